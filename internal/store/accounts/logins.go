package accounts

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

const (
	// Failure number freeFailures is the first that costs a pause, firstPause; each after it costs twice as much.
	freeFailures = 10
	firstPause   = time.Minute
	// loginWindow is how long failures count together, and how long a lock holds.
	loginWindow = 24 * time.Hour
	// unknownBuckets bounds the rows of addresses without an account, which are deleted a day after their last failure.
	unknownBuckets = 1 << 22
	// maxNetworks bounds the networks that are remembered of an account.
	maxNetworks = 20
)

// LoginPausedError refuses a try to log in without looking at the password.
type LoginPausedError struct {
	Until time.Time
}

// Error implements error.
func (e *LoginPausedError) Error() string {
	return "logging in to the account is paused until " + e.Until.UTC().Format(time.RFC3339)
}

// LoginFrom is where a try comes from.
type LoginFrom struct {
	Network   string // by which the account remembers it
	Address   string // for the audit log
	UserAgent string // for the audit log; shortened there
	RequestID string
}

// LoginTry is one try to log in, counted as a failure until it has succeeded: tries that run side by side cannot be more than
// the rules allow.
type LoginTry struct {
	User models.User // the zero value when no account has the email address
	From LoginFrom
	Code bool // of a second factor, instead of a password

	at      time.Time
	subject uuid.UUID
	before  loginThrottle // as it was before the try was counted
}

type loginThrottle struct {
	bun.BaseModel `bun:"table:login_throttles,alias:lt"`

	Subject     uuid.UUID  `bun:"subject,pk"`
	Failures    int        `bun:"failures"`
	CountedFrom time.Time  `bun:"counted_from"`
	FailedAt    *time.Time `bun:"failed_at"`
	LockedUntil *time.Time `bun:"locked_until"`
	Networks    []string   `bun:"networks,array"`
}

// FromKnownNetwork reports whether the account has been logged in to from the network of the try.
func (t *LoginTry) FromKnownNetwork() bool { return slices.Contains(t.before.Networks, t.From.Network) }

// BeginLogin counts a try to log in. It does the same work whether or not the account exists; LoginTry.User tells. End it by
// LogIn, PasswordProved or LoginFailed. Error: *LoginPausedError while the account is paused, unless the network is known, and
// while it is locked.
func (s *Store) BeginLogin(ctx context.Context, email string, from LoginFrom, now time.Time) (*LoginTry, error) {
	u, err := s.UserByEmail(ctx, email)
	if err != nil && models.CodeOf(err) != models.CodeNotFound {
		return nil, err
	}

	subject := u.ID
	if subject == uuid.Nil {
		subject = s.unknownSubject(email)
	}

	try := &LoginTry{User: u, From: from, at: now.UTC().Truncate(time.Microsecond), subject: subject}

	return try, s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error { return s.countTry(ctx, tx, try) })
}

// unknownSubject is the bucket of an email address without an account, one of unknownBuckets. Which addresses share one is not known
// without the key, and finding out by trying takes longer than failures are remembered: a network has a bounded number of tries a minute.
func (s *Store) unknownSubject(email string) uuid.UUID {
	mac := hmac.New(sha256.New, s.unknown)
	mac.Write([]byte(strings.ToLower(models.CleanExact(email))))

	var bucket uuid.UUID

	binary.BigEndian.PutUint32(bucket[len(bucket)-4:], binary.BigEndian.Uint32(mac.Sum(nil))%unknownBuckets)

	return bucket
}

func (s *Store) countTry(ctx context.Context, tx bun.Tx, try *LoginTry) error {
	var t loginThrottle

	err := tx.NewRaw(`INSERT INTO login_throttles AS lt (subject, counted_from) VALUES (?, ?)
		ON CONFLICT (subject) DO UPDATE SET subject = excluded.subject
		RETURNING lt.subject, lt.failures, lt.counted_from, lt.failed_at, lt.locked_until, lt.networks`, try.subject, try.at).Scan(ctx, &t)
	if err != nil {
		return fmt.Errorf("read failed log-ins: %w", err)
	}

	t.forget(try.at)
	try.before = t

	if until := t.pausedUntil(s.policies.Login, try.From.Network, try.at); until.After(try.at) {
		return &LoginPausedError{Until: until}
	}

	_, err = tx.NewUpdate().Model(&t).Set("failures = ?", t.Failures+1).Set("failed_at = ?", try.at).
		Set("counted_from = ?", t.CountedFrom).Set("locked_until = ?", t.LockedUntil).WherePK().Exec(ctx)
	if err != nil {
		return fmt.Errorf("count log-in: %w", err)
	}

	return nil
}

// forget drops what is over: failures of more than a day ago, and a lock with the failures that led to it.
func (t *loginThrottle) forget(now time.Time) {
	unlocked := t.LockedUntil != nil && !t.LockedUntil.After(now)
	if unlocked || t.LockedUntil == nil && now.Sub(t.CountedFrom) >= loginWindow {
		t.Failures, t.CountedFrom, t.FailedAt, t.LockedUntil = 0, now, nil, nil
	}
}

// pausedUntil is when the next try from the network may be made; a moment that has passed means now.
func (t *loginThrottle) pausedUntil(rules models.LoginRules, network string, now time.Time) time.Time {
	switch {
	case t.LockedUntil != nil && rules.LockAfter > 0:
		return *t.LockedUntil
	case t.FailedAt == nil, slices.Contains(t.Networks, network):
		return now
	default:
		return t.FailedAt.Add(pauseAfter(t.Failures, rules.PauseMax))
	}
}

// pauseAfter is the pause that follows so many failures.
func pauseAfter(failures int, longest time.Duration) time.Duration {
	if failures < freeFailures {
		return 0
	}

	const enough = 20 // doublings of a minute are more than a year

	return min(firstPause<<min(failures-freeFailures, enough), longest)
}

// LogIn ends a try whose password was right: its session is opened, its network is known from now on, and it is no failure.
// Error: that of OpenSession.
func (s *Store) LogIn(ctx context.Context, try *LoginTry, t models.RefreshToken) (session models.Session, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		session, err = logIn(ctx, tx, try, Opening{Token: t, From: try.From})

		return err
	})

	return session, err
}

func logIn(ctx context.Context, tx bun.Tx, try *LoginTry, o Opening) (models.Session, error) {
	session, err := openSession(ctx, tx, &try.User, o)
	if err != nil {
		return session, err
	}

	if err := takeBack(ctx, tx, try, true); err != nil {
		return session, err
	}

	details := try.From.details()
	if o.SecondFactor != "" {
		details["second_factor"] = string(o.SecondFactor)
	}

	return session, db.Audit(ctx, tx, try.From.as(&try.User), models.AuditLoggedIn, models.EntityUser, &try.User.ID, details)
}

// PasswordProved ends a try whose password was right and that opens no session.
func (s *Store) PasswordProved(ctx context.Context, try *LoginTry) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error { return takeBack(ctx, tx, try, true) })
}

// takeBack makes a try that was counted as a failure none, and, of an owner who has proved all there is to prove, remembers the network.
// Failures that others had meanwhile stay.
func takeBack(ctx context.Context, tx bun.Tx, try *LoginTry, owner bool) error {
	q := tx.NewUpdate().Model((*loginThrottle)(nil)).
		Set("failures = CASE WHEN counted_from = ? THEN greatest(failures - 1, 0) ELSE failures END", try.before.CountedFrom).
		Set("failed_at = CASE WHEN failed_at = ? THEN ?::timestamptz ELSE failed_at END", try.at, try.before.FailedAt).
		Where("subject = ?", try.subject)
	if owner {
		q = q.Set("networks = (ARRAY[?::text] || array_remove(networks, ?))[1:?]", try.From.Network, try.From.Network, maxNetworks)
	}

	if _, err := q.Exec(ctx); err != nil {
		return fmt.Errorf("take back failed log-in: %w", err)
	}

	return nil
}

// LoginFailed ends a try whose password was wrong. The failure that is one too many locks the account, and its owner is notified by
// email: the sweep finds the message.
func (s *Store) LoginFailed(ctx context.Context, try *LoginTry) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		// One statement for every account, an unknown one included, whose failures stay out of the log: they name no account, and
		// their number is not bounded by that of the accounts.
		details := try.From.details()
		if try.Code {
			details["second_factor"] = true
		}

		entry, err := db.NewAuditEntry(try.From.actor(), models.AuditLoginFailed, models.EntityUser, &try.subject, details)
		if err != nil {
			return err
		}

		_, err = tx.NewRaw(`INSERT INTO audit_log (id, action, entity, entity_id, details, request_id, address, user_agent)
			SELECT ?, ?, ?, u.id, ?, ?, ?, ? FROM users AS u WHERE u.id = ?`, entry.ID, entry.Action, entry.Entity, string(entry.Details),
			entry.RequestID, entry.Address, entry.UserAgent, try.subject).Exec(ctx)
		if err != nil {
			return fmt.Errorf("insert audit entry: %w", err)
		}

		locked, err := s.lockAccount(ctx, tx, try)
		if err != nil || !locked || try.User.ID == uuid.Nil {
			return err
		}

		return noteLock(ctx, tx, try)
	})
}

func (s *Store) lockAccount(ctx context.Context, tx bun.Tx, try *LoginTry) (bool, error) {
	after := s.policies.Login.LockAfter
	if after <= 0 {
		return false, nil
	}

	res, err := tx.NewUpdate().Model((*loginThrottle)(nil)).Set("locked_until = ?", try.at.Add(loginWindow)).
		Where("subject = ?", try.subject).Where("failures >= ?", after).Where("locked_until IS NULL").Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("lock account: %w", err)
	}

	n, err := res.RowsAffected()

	return n == 1, err
}

// noteLock writes the lock into the audit log, and a message to the owner into the outbox.
func noteLock(ctx context.Context, tx bun.Tx, try *LoginTry) error {
	until := try.at.Add(loginWindow)

	err := db.Audit(ctx, tx, try.From.actor(), models.AuditAccountLocked, models.EntityUser, &try.subject,
		map[string]any{"until": until.Format(time.RFC3339)})
	if err != nil {
		return err
	}

	u := &try.User
	message := models.Notification{
		ID: models.AccountNoticeID(u.ID, models.NotifyAccountLocked, until), UserID: &u.ID, Kind: models.NotifyAccountLocked,
		Channel: models.NotifyEmail, Locale: u.Locale, Recipient: u.Email, Status: models.NotificationPending,
		Data: map[string]string{"name": addressee(u), "locked_until": until.Format(time.RFC3339)},
	}

	if _, err = tx.NewInsert().Model(&message).ExcludeColumn("created_at", "next_attempt_at").On("CONFLICT DO NOTHING").Exec(ctx); err != nil {
		return fmt.Errorf("queue notification: %w", err)
	}

	return nil
}

// unlock forgets the failures of an account: a new password makes guesses at the old one worth nothing.
func unlock(ctx context.Context, tx bun.Tx, account uuid.UUID) error {
	_, err := tx.NewUpdate().Model((*loginThrottle)(nil)).Set("failures = 0").Set("failed_at = NULL").Set("locked_until = NULL").
		Where("subject = ?", account).Exec(ctx)
	if err != nil {
		return fmt.Errorf("unlock account: %w", err)
	}

	return nil
}

// details are those of an entry about a log-in.
func (f LoginFrom) details() map[string]any {
	return map[string]any{"address": db.CleanAddress(f.Address), "user_agent": db.CleanAgent(f.UserAgent)}
}

// actor is the caller of a log-in, who is no user before it has succeeded.
func (f LoginFrom) actor() db.Actor {
	return db.Actor{RequestID: f.RequestID, Address: f.Address, UserAgent: f.UserAgent}
}

// as is the account that is logging in.
func (f LoginFrom) as(u *models.User) db.Actor {
	by := f.actor()
	by.UserID, by.Role = u.ID, u.Role

	return by
}
