package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"snag/lab"
	"snag/lab/actor"
)

// janitorCommand is the hidden process that removes what a killed lab left.
func janitorCommand() *cobra.Command {
	return &cobra.Command{
		Use:    lab.JanitorCommand + " TOKEN",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   func(_ *cobra.Command, args []string) error { return lab.Janitor(os.Stdin, args[0]) },
	}
}

// actorCommand is one program of an incident; its flags are its own.
func actorCommand() *cobra.Command {
	return &cobra.Command{
		Use:                lab.ActorCommand + " NAME",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("actor is called by snag-lab run, with the name of an actor")
			}
			return actor.Run(args)
		},
	}
}
