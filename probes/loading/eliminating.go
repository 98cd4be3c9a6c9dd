package loading

import (
	"context"
	"errors"

	"snag/load/elimination"
	"snag/load/trial"
	"snag/probes/probe"
	"snag/recording"
)

// Eliminating runs the experiments of a plan from when the other probes have started until they are ended.
// What was not tried until then is recorded as not done.
func Eliminating(plan trial.Plan) *probe.Probe {
	return &probe.Probe{Name: recording.MeasureEliminate, Start: func(ctx context.Context, env *probe.Env) (probe.Running, error) {
		return eliminate(ctx, env, plan), nil
	}}
}

func eliminate(ctx context.Context, env *probe.Env, plan trial.Plan) *running {
	ctx, cancel := context.WithCancel(ctx)
	r := &running{cancel: cancel, done: make(chan struct{})}
	watchWhoAnswers(ctx, env, plan.Target)
	to := placeOf(env)
	go func() {
		defer close(r.done)
		_, err := to.Eliminate(ctx, plan, func(elimination.Experiment) {})
		if err != nil && !errors.Is(err, context.Canceled) {
			env.Notice("the experiments failed: " + err.Error())
		}
	}()
	return r
}
