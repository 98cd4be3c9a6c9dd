package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"snag/remedies/apply"
	"snag/remedies/plan"
	"snag/remedies/verify"
)

// autoSpare is what applying, judging and undoing may take of the deadline besides the
// measurement.
const autoSpare = 90 * time.Second

// checkAuto says what of a plan can't be done without a person.
func checkAuto(p *plan.Plan) error {
	for _, c := range p.Changes {
		if strings.HasPrefix(c.Needs, "a restart") {
			return fmt.Errorf("--auto: change %s needs %s, which snag does not do: apply it, restart, then snag tune verify", c.ID, c.Needs)
		}
	}
	if p.For.Recording == "" {
		return errors.New("--auto: the plan was not made from a recording: there is nothing to compare with")
	}
	return nil
}

// settleAuto measures what an applied plan did, and keeps it only if the symptom is
// gone. Confirming by itself is allowed here alone: the measurement, over the network
// or not, is what --auto was asked to go by.
func settleAuto(cmd *cobra.Command, s *apply.Store, id string, v *verifyFlags) error {
	signal.Reset(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	o, err := measureOutcome(ctx, s, id, v)
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("it was ended before the outcome was known: %w", context.Cause(ctx))
	}
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM) // what it begins now, it ends
	if err != nil {
		return errors.Join(err, undoAuto(s, id, "--auto: the outcome could not be measured"))
	}
	switch o.Outcome {
	case verify.Gone:
		if _, err := s.Confirm(id); err != nil {
			return errors.Join(o.write(cmd.OutOrStdout(), v.json), err)
		}
		o.Did = "confirmed by --auto, until a reboot; snag tune undo takes it back"
	case verify.Reduced:
		o.Did = "not confirmed: it helped, but it is not gone. snag tune confirm keeps it; else it is undone at its deadline"
	case verify.TooEarly:
		o.Did = "not confirmed: there is less of it so far. snag tune verify --for decides, as above; snag tune confirm keeps it; else it is undone at its deadline"
	default:
		if err := undoAuto(s, id, "--auto: "+string(o.Outcome)); err != nil {
			return errors.Join(o.write(cmd.OutOrStdout(), v.json), err)
		}
		o.Did = "undone by --auto: all settings are as before"
	}
	if err := o.write(cmd.OutOrStdout(), v.json); err != nil {
		return err
	}
	return o.exit()
}

func undoAuto(s *apply.Store, id, why string) error {
	_, err := s.Undo(id, why)
	return err
}

// linesTo is where apply's lines go when the outcome is asked for as JSON.
func linesTo(out io.Writer, v *verifyFlags) io.Writer {
	if v.json && v.auto {
		return io.Discard
	}
	return out
}
