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
	"rihla/models"
)

// minPassword is the least length of a password (contract §2).
const minPassword = 10

const knownRoles = "END_USER, PROVIDER_STAFF, PROVIDER_ADMIN, SUPPORT_AGENT, FINANCE_ADMIN, ADMIN or SUPER_ADMIN"

func newUser() *cobra.Command {
	user := &cobra.Command{Use: "user", Short: "Manage the people who sign in"}
	user.AddCommand(newUserCreate())

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

			// From standard input, so that it stays out of the shell's history and the process list.
			password, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')

			password = strings.TrimRight(password, "\r\n")
			if len([]rune(password)) < minPassword {
				return fmt.Errorf("the password on standard input must have at least %d characters", minPassword)
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
	create.Flags().StringVar(&f.email, "email", "", "e-mail address, the name to sign in with")
	create.Flags().StringVar(&f.phone, "phone", "", "phone number with country code")
	create.Flags().StringVar(&f.role, "role", "", knownRoles)
	create.Flags().StringVar(&f.provider, "provider", "", "id of the provider company; needed for, and only for, provider roles")

	return create
}

func (f userFlags) user() (models.User, error) {
	u := models.User{
		ID: models.NewID(), Name: strings.TrimSpace(f.name), Email: strings.TrimSpace(f.email),
		Phone: f.phone, Role: models.Role(f.role), Locale: models.LocaleArabic,
	}

	if u.Name == "" {
		return u, errors.New("--name is missing")
	}

	if a, err := mail.ParseAddress(u.Email); err != nil || a.Address != u.Email {
		return u, errors.New("--email is not an e-mail address")
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
		if _, err := s.ProviderByID(ctx, *u.ProviderID); err != nil {
			return u, fmt.Errorf("--provider: %w", err)
		}
	}

	passwords, err := auth.NewPasswords(1)
	if err != nil {
		return u, err
	}

	if u.PasswordHash, err = passwords.Hash(ctx, password); err != nil {
		return u, err
	}

	return s.CreateUser(ctx, u)
}
