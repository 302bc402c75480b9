package cmd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"rihla/internal/config"
	"rihla/internal/store/accounts"
	"rihla/models"
)

// listedUser is a line of `rihla user list --json`.
type listedUser struct {
	ID          string      `json:"id"`
	Email       string      `json:"email"`
	Name        string      `json:"name"`
	Role        models.Role `json:"role"`
	ProviderID  string      `json:"provider_id,omitempty"`
	CreatedAt   time.Time   `json:"created_at"`
	LockedUntil *time.Time  `json:"locked_until,omitempty"`
}

func newUserList() *cobra.Command {
	var (
		role   string
		asJSON bool
	)

	list := &cobra.Command{
		Use:   "list [--role ROLE] [--json]",
		Short: "List users, oldest first, and whose account is locked",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if role != "" && !slices.Contains(models.Roles(), models.Role(role)) {
				return fmt.Errorf("there is no role %q", role)
			}

			cfg, err := loadConfig(config.Config.RequireDatabase)
			if err != nil {
				return err
			}

			s, err := openStore(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			defer s.Close()

			show := tableOfUsers(cmd)
			if asJSON {
				show = linesOfUsers(cmd)
			}

			return s.Accounts.EachUser(cmd.Context(), models.Role(role), time.Now(), show)
		},
	}
	list.Flags().StringVar(&role, "role", "", "only users of this role")
	completeRoles(list)
	list.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")

	return list
}

func linesOfUsers(cmd *cobra.Command) func([]accounts.ListedUser) error {
	out := json.NewEncoder(cmd.OutOrStdout())

	return func(users []accounts.ListedUser) error {
		for i := range users {
			if err := out.Encode(listedOf(&users[i])); err != nil {
				return err
			}
		}

		return nil
	}
}

func tableOfUsers(cmd *cobra.Command) func([]accounts.ListedUser) error {
	const gap = 2

	out := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, gap, ' ', 0)
	fmt.Fprintln(out, "ID\tROLE\tEMAIL\tNAME\tPROVIDER\tLOCKED UNTIL")

	return func(users []accounts.ListedUser) error {
		for i := range users {
			u, locked := listedOf(&users[i]), ""
			if u.LockedUntil != nil {
				locked = u.LockedUntil.Format(time.RFC3339)
			}

			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\n", u.ID, u.Role, printable(u.Email), printable(u.Name), u.ProviderID, locked)
		}

		return out.Flush()
	}
}

func listedOf(u *accounts.ListedUser) listedUser {
	out := listedUser{
		ID: u.ID.String(), Email: u.Email, Name: u.Name, Role: u.Role, CreatedAt: u.CreatedAt.UTC(), LockedUntil: u.LockedUntil,
	}

	if u.ProviderID != nil {
		out.ProviderID = u.ProviderID.String()
	}

	return out
}

// printable leaves out what would move the cursor of a terminal or turn the reading direction: users choose their names.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}

		return r
	}, text)
}
