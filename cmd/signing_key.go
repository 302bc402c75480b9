package cmd

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"rihla/internal/auth"
)

func newSigningKey() *cobra.Command {
	return &cobra.Command{
		Use:   "signing-key FILE",
		Short: "Make a key for JWT_SIGNING_KEYS, unless FILE is there already",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			made, err := keepKeyFile(args[0])
			if err == nil && made {
				fmt.Fprintln(cmd.OutOrStdout(), "made", args[0])
			}

			return err
		},
	}
}

// keepKeyFile makes a signing key at path when there is none, and reports whether it did.
func keepKeyFile(path string) (made bool, err error) {
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return false, err
	}

	return true, auth.GenerateKeyFile(path)
}
