package verdict

// weights of Signs.Terms, by snag-lab calibrate on 2026-11-21: 174 accusations and near ones
// of the lab's runs, 140 of them right (docs/score.md).
var weights = [...]float64{-1.801, 3.518, 2.525, 0.846, -1.666, -0.960}
