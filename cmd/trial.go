//go:build !production

package cmd

import "github.com/spf13/cobra"

// trialCommands are for trying the service out: they start its databases, simulate gateways and make data up. A production build has none
// of them.
func trialCommands() []*cobra.Command {
	return []*cobra.Command{newDemo(), newDev(), newSandbox(), newSeed()}
}
