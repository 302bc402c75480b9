package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// noticeEvery is how often an owner gets a mail about the address being registered again.
const noticeEvery = 24 * time.Hour

// queueNotice puts a mail to an account's owner into the outbox; the sweep finds it.
func queueNotice(ctx context.Context, tx bun.IDB, u *models.User, kind models.NotificationKind, data map[string]string) error {
	message := models.Notification{
		ID: models.NewID(), UserID: &u.ID, Kind: kind, Channel: models.NotifyEmail, Locale: u.Locale, Recipient: u.Email,
		Status: models.NotificationPending, Data: map[string]string{"name": addressee(u)},
	}

	maps.Copy(message.Data, data)

	if _, err := tx.NewInsert().Model(&message).ExcludeColumn("created_at", "next_attempt_at").Exec(ctx); err != nil {
		return fmt.Errorf("queue notification: %w", err)
	}

	return nil
}

// addressee is the name with which a mail greets an account's owner. At an address that was never proved another person may read it, and a
// stranger may have chosen the name: such a mail has no text of the account.
func addressee(u *models.User) string {
	if u.EmailVerifiedAt == nil {
		return ""
	}

	return u.Name
}

// mailKinds are the mails whose link proves something.
var mailKinds = map[models.AccountTokenPurpose]models.NotificationKind{
	models.TokenVerifyEmail: models.NotifyVerifyEmail, models.TokenResetPassword: models.NotifyResetPassword,
	models.TokenInvitation: models.NotifyInvitation,
}

// queueLink queues a mail with a link for the purpose, unless the account has had its mails for it (MailLimit). It reports whether it did.
func queueLink(ctx context.Context, tx bun.Tx, u *models.User, purpose models.AccountTokenPurpose) (bool, error) {
	token := models.NewID()
	most, within := purpose.MailLimit()

	// The account's row is locked by the caller, so that the count is exact.
	queued, err := changed(tx.NewRaw(`INSERT INTO account_tokens (id, user_id, purpose, email) SELECT ?0, ?1, ?2, ?3
		WHERE (SELECT count(*) FROM account_tokens WHERE user_id = ?1 AND purpose = ?2 AND used_at IS NULL
			AND created_at > now() - ?5 * interval '1 second') < ?4`, token, u.ID, purpose, u.Email, most, within.Seconds()).Exec(ctx))
	if err != nil || !queued {
		return false, err
	}

	return true, queueNotice(ctx, tx, u, mailKinds[purpose], map[string]string{"token_id": token.String()})
}

// linkActions are what the audit log calls the mails with which SendLink answers an owner. An invitation is noted by who invites.
var linkActions = map[models.AccountTokenPurpose]models.AuditAction{
	models.TokenVerifyEmail: models.AuditVerifyEmailSent, models.TokenResetPassword: models.AuditResetPasswordSent,
}

// SendLink queues a mail with a link to prove an address or to reset a password, and reports whether it did: an account that has had
// its mails for the purpose gets none, which is no error. Error: NOT_FOUND for an account that is not there.
func (s *Store) SendLink(
	ctx context.Context, by db.Actor, user uuid.UUID, purpose models.AccountTokenPurpose,
) (queued bool, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		var u models.User
		if err := tx.NewSelect().Model(&u).Where("u.id = ?", user).Where("u.deleted_at IS NULL").For("NO KEY UPDATE").Scan(ctx); err != nil {
			return db.NotFound(err)
		}

		if queued, err = queueLink(ctx, tx, &u, purpose); err != nil || !queued {
			return err
		}

		return db.Audit(ctx, tx, by, linkActions[purpose], models.EntityUser, &u.ID, nil)
	})

	return queued && err == nil, err
}

// AskForReset is SendLink for the owner of an address, who has forgotten the password; without an account nothing happens.
func (s *Store) AskForReset(ctx context.Context, by db.Actor, email string) (queued bool, err error) {
	u, err := s.UserByEmail(ctx, email)
	if err == nil && u.LockedAt == nil {
		if mails, failed := s.MayMailUnproved(ctx, by, &u, models.TokenResetPassword); failed != nil || !mails {
			return false, failed
		}

		queued, err = s.SendLink(ctx, by, u.ID, models.TokenResetPassword)
	}

	if models.CodeOf(err) == models.CodeNotFound {
		err = nil
	}

	return queued, err
}

// TellOwner queues a mail to the owner of an address that is registered again, once a day at most, and reports whether it did.
func (s *Store) TellOwner(ctx context.Context, email string) (queued bool, err error) {
	u, err := s.UserByEmail(ctx, email)
	if models.CodeOf(err) == models.CodeNotFound {
		return false, nil
	}

	if err != nil {
		return false, err
	}

	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		// In a statement of its own: one that waited for the lock would not see what it waited for.
		if _, err := tx.NewRaw("SELECT FROM users WHERE id = ? FOR NO KEY UPDATE", u.ID).Exec(ctx); err != nil {
			return fmt.Errorf("lock account: %w", err)
		}

		var told bool

		err := tx.NewRaw(`SELECT EXISTS (SELECT FROM notifications
			WHERE user_id = ? AND kind = ? AND created_at > now() - ? * interval '1 second')`,
			u.ID, models.NotifyAlreadyRegistered, noticeEvery.Seconds()).Scan(ctx, &told)
		if err != nil || told {
			return err
		}

		queued = true

		return queueNotice(ctx, tx, &u, models.NotifyAlreadyRegistered, nil)
	})

	return queued && err == nil, err
}

// IssueToken makes the secret of a link when its mail is sent: what is kept is its hash, and the time from which it is good. A mail that
// is sent again has a new one. Error: NOT_FOUND when the link was used.
func (s *Store) IssueToken(ctx context.Context, id uuid.UUID, hash []byte) error {
	issued, err := changed(s.db.NewRaw(`UPDATE account_tokens SET token_hash = ?0, expires_at = now() + CASE purpose
			WHEN ?1 THEN ?2 WHEN ?3 THEN ?4 ELSE ?5 END * interval '1 second'
		WHERE id = ?6 AND used_at IS NULL`, hash,
		models.TokenInvitation, models.TokenInvitation.Lifetime().Seconds(),
		models.TokenVerifyEmail, models.TokenVerifyEmail.Lifetime().Seconds(),
		models.TokenResetPassword.Lifetime().Seconds(), id).Exec(ctx))
	if err != nil {
		return fmt.Errorf("issue token: %w", err)
	}

	if !issued {
		return models.NotFound()
	}

	return nil
}

// errNoToken is what every link answers that does not open: never sent, used, too old, of another address than the account has now.
func errNoToken() error {
	return models.Invalid("token", "account.link_expired")
}

// useToken has a link count once and locks its account first, the order of all. Error: VALIDATION_ERROR on token.
func useToken(
	ctx context.Context, tx bun.Tx, hash []byte, purposes ...models.AccountTokenPurpose,
) (models.User, models.AccountTokenPurpose, error) {
	var u models.User

	err := tx.NewSelect().Model(&u).Where("u.id = (SELECT user_id FROM account_tokens WHERE token_hash = ?)", hash).
		Where(db.AccountIsLive).For("NO KEY UPDATE").Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return u, "", errNoToken()
	}

	if err != nil {
		return u, "", fmt.Errorf("lock the account of a link: %w", err)
	}

	var purpose models.AccountTokenPurpose

	err = tx.NewRaw(`UPDATE account_tokens SET used_at = now() WHERE token_hash = ? AND purpose IN (?) AND used_at IS NULL
		AND expires_at > now() AND lower(email) = lower(?) RETURNING purpose`, hash, bun.List(purposes), u.Email).Scan(ctx, &purpose)
	if errors.Is(err, sql.ErrNoRows) {
		return u, "", errNoToken()
	}

	if err != nil {
		return u, "", fmt.Errorf("use a link: %w", err)
	}

	return u, purpose, nil
}

// LinkUser is the account of a link that opens. Error: VALIDATION_ERROR on token.
func (s *Store) LinkUser(ctx context.Context, hash []byte, purposes ...models.AccountTokenPurpose) (models.User, error) {
	var u models.User

	err := s.db.NewSelect().Model(&u).Where(`EXISTS (SELECT FROM account_tokens AS t WHERE t.token_hash = ? AND t.user_id = u.id
		AND t.purpose IN (?) AND t.used_at IS NULL AND t.expires_at > now() AND lower(t.email) = lower(u.email))`, hash, bun.List(purposes)).
		Where(db.AccountIsLive).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return u, errNoToken()
	}

	if err != nil {
		return u, fmt.Errorf("read the account of a link: %w", err)
	}

	return u, nil
}

// VerifyEmail notes that the owner of the link reads the account's address. Who is in a session of the account, or knows its password, as
// proved says, has opened it; of anybody else an account that was never proved may be a stranger's (takeFromStranger), and taken reports
// that its password has ended. Error: VALIDATION_ERROR on token.
func (s *Store) VerifyEmail(ctx context.Context, by db.Actor, hash []byte, proved bool) (taken bool, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u, _, err := useToken(ctx, tx, hash, models.TokenVerifyEmail)
		if err != nil {
			return err
		}

		taken = !proved && u.EmailVerifiedAt == nil

		if err := verifyEmail(ctx, tx, u.ID, proved || taken); err != nil {
			return err
		}

		by.UserID, by.Role = u.ID, u.Role

		if err := db.Audit(ctx, tx, by, models.AuditEmailVerified, models.EntityUser, &u.ID, nil); err != nil {
			return err
		}

		if !taken {
			return nil
		}

		return takeFromStranger(ctx, tx, by, &u)
	})

	return taken && err == nil, err
}

// verifyEmail notes that the account's address is read by its owner; certain says that nothing of a stranger's is left in it.
func verifyEmail(ctx context.Context, tx bun.Tx, user uuid.UUID, certain bool) error {
	_, err := tx.NewUpdate().Model((*models.User)(nil)).Set("email_verified_at = coalesce(email_verified_at, now())").
		Set("owner_proved_at = coalesce(owner_proved_at, CASE WHEN ? THEN now() END)", certain).
		Set("updated_at = now()").Where("id = ?", user).Exec(ctx)
	if err != nil {
		return fmt.Errorf("verify address: %w", err)
	}

	return nil
}

// ResetPassword sets the password of the account whose owner has the link, of a reset or an invitation, and ends all of its sessions. Who
// has the link reads the address. Error: VALIDATION_ERROR on token.
func (s *Store) ResetPassword(ctx context.Context, by db.Actor, hash []byte, password string) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u, purpose, err := useToken(ctx, tx, hash, models.TokenResetPassword, models.TokenInvitation)
		if err != nil {
			return err
		}

		if purpose == models.TokenInvitation && u.PasswordHash != "" {
			return errNoToken()
		}

		by.UserID, by.Role = u.ID, u.Role

		_, err = endSessions(ctx, tx, u.ID, func(q *bun.UpdateQuery) *bun.UpdateQuery { return q.Set("password_hash = ?", password) })
		if err != nil {
			return err
		}

		if err := endLinks(ctx, tx, u.ID); err != nil {
			return err
		}

		if err := proveAddress(ctx, tx, by, &u); err != nil {
			return err
		}

		if err := unlock(ctx, tx, u.ID); err != nil {
			return err
		}

		action := models.AuditPasswordReset

		if purpose == models.TokenInvitation {
			action = models.AuditInvitationAccepted
		} else if err := queueNotice(ctx, tx, &u, models.NotifyPasswordChanged, nil); err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, action, models.EntityUser, &u.ID, nil)
	})
}

// proveAddress notes that who sets a password reads the account's address. What was added before that was proved may be a stranger's who
// has registered the address: a second factor, which would keep its owner out, goes, and a mail says so. So it does when the address was
// verified while that did not ask for the account. Other accounts than customers' are not registered.
func proveAddress(ctx context.Context, tx bun.Tx, by db.Actor, u *models.User) error {
	if u.OwnerProvedAt != nil {
		return nil
	}

	if err := verifyEmail(ctx, tx, u.ID, true); err != nil {
		return err
	}

	if u.Role != models.RoleEndUser {
		return nil
	}

	return forgetStranger(ctx, tx, by, u)
}

// endLinks ends the links that set a password: sent before it was set anew, they are worth nothing any more.
func endLinks(ctx context.Context, tx bun.Tx, user uuid.UUID) error {
	_, err := tx.NewRaw("UPDATE account_tokens SET used_at = now() WHERE user_id = ? AND purpose <> ? AND used_at IS NULL",
		user, models.TokenVerifyEmail).Exec(ctx)
	if err != nil {
		return fmt.Errorf("end links: %w", err)
	}

	return nil
}
