package verdict

// weights of Signs.Terms, by snag lab calibrate on 2026-11-21: 124 accusations and near ones
// of the lab's runs, 102 of them right (docs/score.md).
var weights = [...]float64{-1.938, 2.278, 3.652, 0.000, -1.567, -0.392}
