package verdict

// weights of Signs.Terms, by snag lab calibrate on 2026-11-21: 103 accusations and near ones
// of the lab's runs, 91 of them right (docs/score.md).
var weights = [...]float64{-1.457, 2.632, 3.078, -0.047, -1.513, -0.795}
