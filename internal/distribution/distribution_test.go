package distribution

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// near compares with a value that was published with so many digits behind the point.
func near(t *testing.T, what string, got, want float64, digits int) {
	t.Helper()
	if !(math.Abs(got-want) <= 0.5000001*math.Pow10(-digits)) {
		t.Errorf("%s is %.9g, published as %g", what, got, want)
	}
}

// The tables of NIST/SEMATECH's e-Handbook of Statistical Methods, 1.3.6.7.2 and 1.3.6.7.4.
func TestTables(t *testing.T) {
	for _, c := range []struct{ p, nu, want float64 }{
		{0.90, 1, 3.078}, {0.975, 1, 12.706}, {0.975, 2, 4.303}, {0.975, 5, 2.571}, {0.975, 10, 2.228}, {0.975, 30, 2.042},
		{0.975, 100, 1.984}, {0.999, 1, 318.309}, {0.999, 5, 5.893}, {0.999, 10, 4.144}, {0.999, 100, 3.174}, {0.95, 1e9, 1.645},
	} {
		near(t, "Student's t", StudentsT(c.p, c.nu), c.want, 3)
		near(t, "Student's t below", -StudentsT(1-c.p, c.nu), c.want, 3)
	}
	for _, c := range []struct{ p, k, want float64 }{
		{0.90, 1, 2.706}, {0.90, 10, 15.987}, {0.90, 100, 118.498}, {0.95, 10, 18.307}, {0.999, 5, 20.515},
		{0.10, 1, 0.016}, {0.10, 10, 4.865}, {0.10, 100, 82.358}, {0.01, 20, 8.260},
	} {
		near(t, "chi-squared", ChiSquared(c.p, c.k), c.want, 3)
	}
}

// Clopper and Pearson's bounds of a share at 95 %: x of n is from Beta(x, n-x+1) to Beta(x+1, n-x).
func TestClopperPearson(t *testing.T) {
	for _, c := range []struct{ x, n, low, high float64 }{
		{5, 10, 0.1871, 0.8129}, {1, 20, 0.0013, 0.2487}, {10, 100, 0.0490, 0.1762},
	} {
		near(t, "the lower bound", Beta(0.025, c.x, c.n-c.x+1), c.low, 4)
		near(t, "the upper bound", Beta(0.975, c.x+1, c.n-c.x), c.high, 4)
	}
	near(t, "the upper bound of 0 of 10", Beta(0.975, 1, 10), 1-math.Pow(0.025, 0.1), 12)
}

// What the functions are where they have another name (DLMF 8.4.6, 8.4.8).
func TestClosedForms(t *testing.T) {
	for _, x := range []float64{0, 1e-9, 0.1, 1, 1.5, 2.9, 3.1, 20, 700} {
		near(t, "Q(1/2, x)", GammaRatio(0.5, x), math.Erfc(math.Sqrt(x)), 13)
		near(t, "Q(1, x)", GammaRatio(1, x), math.Exp(-x), 13)
		near(t, "Q(2, x)", GammaRatio(2, x), (1+x)*math.Exp(-x), 13)
	}
	for _, p := range []float64{0, 1e-12, 0.3, 0.999, 1} {
		near(t, "Beta(1, 7)", Beta(p, 1, 7), 1-math.Pow(1-p, 1.0/7), 12)
		near(t, "Beta(7, 1)", Beta(p, 7, 1), math.Pow(p, 1.0/7), 12)
	}
	if !math.IsInf(StudentsT(1, 3), 1) || !math.IsInf(StudentsT(0, 3), -1) || !math.IsInf(ChiSquared(1, 3), 1) ||
		ChiSquared(0, 3) > 1e-300 || StudentsT(0.5, 3) > 1e-9 || GammaRatio(1, math.Inf(1)) != 0 {
		t.Error("the ends of the distributions")
	}
}

// Over all that snag asks for, and beyond, gonum says the same.
func TestAgreesWithGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same draws each time
	draw := func(least, most float64) float64 { return least * math.Pow(most/least, r.Float64()) }
	same := func(what string, got, want float64, args ...float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*math.Max(math.Abs(want), 1e-3) {
			t.Errorf("%s of %v is %.17g, gonum has %.17g", what, args, got, want)
		}
	}
	for range 3000 {
		p := draw(1e-6, 0.45) // gonum loses digits of Student's t at the median
		if r.IntN(2) == 0 {
			p = 1 - p
		}
		nu := draw(0.5, 1e4)
		same("Student's t", StudentsT(p, nu), distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}.Quantile(p), p, nu)
		same("chi-squared", ChiSquared(p, nu), distuv.ChiSquared{K: nu}.Quantile(p), p, nu)
		a, b := draw(0.3, 1e4), draw(0.3, 1e4)
		same("beta", Beta(p, a, b), distuv.Beta{Alpha: a, Beta: b}.Quantile(p), p, a, b)
		a, x := draw(0.1, 100), draw(1e-6, 1000)
		same("Q", GammaRatio(a, x), mathext.GammaIncRegComp(a, x), a, x)
	}
}

func BenchmarkGammaRatio(b *testing.B) {
	b.Run("snag", func(b *testing.B) {
		for b.Loop() {
			GammaRatio(0.7, 3)
		}
	})
	b.Run("gonum", func(b *testing.B) {
		for b.Loop() {
			mathext.GammaIncRegComp(0.7, 3)
		}
	})
}

func BenchmarkStudentsT(b *testing.B) {
	b.Run("snag", func(b *testing.B) {
		for b.Loop() {
			StudentsT(0.9996, 28.5)
		}
	})
	b.Run("gonum", func(b *testing.B) {
		for b.Loop() {
			distuv.StudentsT{Mu: 0, Sigma: 1, Nu: 28.5}.Quantile(0.9996)
		}
	})
}
