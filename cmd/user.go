package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/internal/store"
	"rihla/models"
)

// minPassword is the least length of a password (rules: identity.passwords).
const minPassword = 10

const knownRoles = "END_USER, PROVIDER_STAFF, PROVIDER_ADMIN, SUPPORT_AGENT, FINANCE_ADMIN, ADMIN or SUPER_ADMIN"

func newUser() *cobra.Command {
	user := &cobra.Command{Use: "user", Short: "Manage the people who sign in"}
	user.AddCommand(newUserCreate(), newUserPassword(), newUserRemove(), newUserList(), newUserSecondFactor())

	// Cobra would take a word that is no command for an argument, print the help and exit with 0.
	user.Args = cobra.NoArgs
	user.RunE = func(*cobra.Command, []string) error {
		return errors.New("user needs create, password, remove, list or reset-second-factor")
	}

	return user
}

type userFlags struct {
	name, email, phone, role, provider string
}

func newUserCreate() *cobra.Command {
	var f userFlags

	create := &cobra.Command{
		Use:   "create --email ADDRESS --name NAME --role ROLE [--provider ID]",
		Short: "Create a user; the password is read from standard input",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(config.Config.RequireDatabase)
			if err != nil {
				return err
			}

			u, err := f.user()
			if err != nil {
				return err
			}

			password, err := readPassword(cmd)
			if err != nil {
				return err
			}

			created, err := createUser(cmd.Context(), cfg, u, password)
			if err != nil {
				return err
			}

			fmt.Fprintf(cmd.OutOrStdout(), "created %s %s\n", created.Role, created.ID)

			return nil
		},
	}
	create.Flags().StringVar(&f.name, "name", "", "full name")
	create.Flags().StringVar(&f.email, "email", "", "email address, the name to sign in with")
	create.Flags().StringVar(&f.phone, "phone", "", "phone number with country code")
	create.Flags().StringVar(&f.role, "role", "", knownRoles)
	completeRoles(create)
	create.Flags().StringVar(&f.provider, "provider", "", "id of the provider company; needed for, and only for, provider roles")

	return create
}

// completeRoles has the shell complete --role.
func completeRoles(cmd *cobra.Command) {
	roles := make([]cobra.Completion, len(models.Roles()))
	for i, role := range models.Roles() {
		roles[i] = string(role)
	}

	_ = cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(roles, cobra.ShellCompDirectiveNoFileComp)) // fails for no such flag
}

// readPassword reads from standard input, so that passwords stay out of the shell's history and the process list.
func readPassword(cmd *cobra.Command) (string, error) {
	password, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')

	password = strings.TrimRight(password, "\r\n")
	if len([]rune(password)) < minPassword {
		return "", fmt.Errorf("the password on standard input must have at least %d characters", minPassword)
	}

	if auth.IsCommonPassword(password) {
		return "", errors.New("the password on standard input is one of the most common passwords")
	}

	return password, nil
}

func newUserPassword() *cobra.Command {
	var email string

	password := &cobra.Command{
		Use:   "password --email ADDRESS",
		Short: "Set a user's password, read from standard input, and end all their sessions",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withUser(cmd, email, func(ctx context.Context, s *store.Store, u models.User) error {
				password, err := readPassword(cmd)
				if err != nil {
					return err
				}

				hash, err := hashPassword(ctx, password)
				if err != nil {
					return err
				}

				if err := s.Accounts.ChangePassword(ctx, operator(), u.ID, "", hash); err != nil {
					return err
				}

				fmt.Fprintf(cmd.OutOrStdout(), "changed the password of %s %s\n", u.Role, u.ID)

				return nil
			})
		},
	}
	password.Flags().StringVar(&email, "email", "", "email address of the user")

	return password
}

func newUserRemove() *cobra.Command {
	var email string

	remove := &cobra.Command{
		Use:   "remove --email ADDRESS",
		Short: "Remove a user and end all their sessions; what they have done is kept",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withUser(cmd, email, func(ctx context.Context, s *store.Store, u models.User) error {
				if err := s.Accounts.RemoveUser(ctx, operator(), u.ID); err != nil {
					return err
				}

				fmt.Fprintf(cmd.OutOrStdout(), "removed %s %s\n", u.Role, u.ID)

				return nil
			})
		},
	}
	remove.Flags().StringVar(&email, "email", "", "email address of the user")

	return remove
}

func newUserSecondFactor() *cobra.Command {
	var email string

	reset := &cobra.Command{
		Use:   "reset-second-factor --email ADDRESS",
		Short: "Take away the second factor of a user who has lost it, and end all their sessions",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withUser(cmd, email, func(ctx context.Context, s *store.Store, u models.User) error {
				if _, err := s.Accounts.ResetSecondFactor(ctx, operator(), u.ID); err != nil {
					return err
				}

				fmt.Fprintf(cmd.OutOrStdout(), "took the second factor of %s %s away\n", u.Role, u.ID)

				return nil
			})
		},
	}
	reset.Flags().StringVar(&email, "email", "", "email address of the user")

	return reset
}

// withUser finds a live user by their email address.
func withUser(cmd *cobra.Command, email string, do func(context.Context, *store.Store, models.User) error) error {
	cfg, err := loadConfig(config.Config.RequireDatabase)
	if err != nil {
		return err
	}

	if email == "" {
		return errors.New("--email is missing")
	}

	s, err := openStore(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	defer s.Close()

	u, err := s.Accounts.UserByEmail(cmd.Context(), email)
	if err != nil {
		return fmt.Errorf("--email: %w", err)
	}

	return do(cmd.Context(), s, u)
}

func (f userFlags) user() (models.User, error) {
	u := models.User{
		ID: models.NewID(), Name: models.CleanText(f.name), Email: models.CleanExact(f.email),
		Phone: models.CleanPhone(f.phone), Role: models.Role(f.role), Locale: models.LocaleArabic,
	}

	if u.Name == "" {
		return u, errors.New("--name is missing")
	}

	if a, err := mail.ParseAddress(u.Email); err != nil || a.Address != u.Email {
		return u, errors.New("--email is not an email address")
	}

	if !slices.Contains(models.Roles(), u.Role) {
		return u, errors.New("--role must be " + knownRoles)
	}

	if u.Role.IsProvider() != (f.provider != "") {
		return u, errors.New("--provider is needed for, and only for, the roles PROVIDER_STAFF and PROVIDER_ADMIN")
	}

	if f.provider != "" {
		id, err := uuid.Parse(f.provider)
		if err != nil {
			return u, errors.New("--provider is not an id")
		}

		u.ProviderID = &id
	}

	return u, nil
}

func createUser(ctx context.Context, cfg config.Config, u models.User, password string) (models.User, error) {
	s, err := openStore(ctx, cfg)
	if err != nil {
		return u, err
	}
	defer s.Close()

	if u.ProviderID != nil {
		if _, err := s.Catalogue.ProviderByID(ctx, *u.ProviderID); err != nil {
			return u, fmt.Errorf("--provider: %w", err)
		}
	}

	if u.PasswordHash, err = hashPassword(ctx, password); err != nil {
		return u, err
	}

	return s.Accounts.AddUser(ctx, operator(), u)
}

func hashPassword(ctx context.Context, password string) (string, error) {
	passwords, err := auth.NewPasswords(1)
	if err != nil {
		return "", err
	}

	return passwords.Hash(ctx, password)
}
