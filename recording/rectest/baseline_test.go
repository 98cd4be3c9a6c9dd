package rectest

import "testing"

func TestBaselineSections(t *testing.T) {
	c, err := Parse([]byte("A case.\n-- manifest --\n{\"seconds\": 8}\n-- facts --\n{\"t\": 0, \"name\": \"cpu.model\", \"value\": \"here\"}\n" +
		"-- baseline/facts --\n{\"t\": 0, \"name\": \"cpu.model\", \"value\": \"there\"}\n-- baseline/blind --\nhost.netstat\n-- want --\nno culprit\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Recording.Baseline == nil {
		t.Fatal("no baseline")
	}
	here, _ := c.Recording.FactOf("cpu.model", 0)
	there, _ := c.Recording.Baseline.FactOf("cpu.model", 0)
	if here != "here" || there != "there" {
		t.Errorf("%q and %q", here, there)
	}
	if _, ok := c.Recording.Measured("host.netstat"); !ok {
		t.Error("what the baseline lacks is lacking here")
	}
	if len(c.Files) != 1 {
		t.Errorf("sections left: %v", c.Files)
	}
	if _, err := Parse([]byte("A case.\n-- baseline/nonsense --\nx\n")); err == nil {
		t.Error("a section that no recording has was taken")
	}
}
