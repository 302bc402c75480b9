package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"rihla/api"
)

func newOpenAPI() *cobra.Command {
	return &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI document as JSON",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			document, err := api.ServedDocument("")
			if err != nil {
				return err
			}

			_, err = fmt.Fprintln(cmd.OutOrStdout(), string(document))

			return err
		},
	}
}
