package verdict

// weights of Signs.Terms: those before any run was seen.
var weights = [...]float64{-1, 3.5, 1, -1.3, -0.3}
