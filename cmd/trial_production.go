//go:build production

package cmd

import (
	"github.com/spf13/cobra"

	"rihla/internal/config"
)

// trialCommands are left out of a production build: it starts no databases, simulates no gateway and makes no data up.
func trialCommands() []*cobra.Command { return nil }

// useDevSecrets fills in nothing: a production build knows no published secrets of simulators.
func useDevSecrets(*config.Config) {}
