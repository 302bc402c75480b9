package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"rihla/models"
)

// What strangers cause is counted by the hour of the clock.

// mailsOfStrangers is the subject under which their mails are counted, registrationsOf begins that of a network's registrations.
const mailsOfStrangers, registrationsOf = "mails", "registrations "

// countStranger counts one more of a subject, unless there were enough in this hour. The count is not part of the caller's transaction: its
// row is one for all.
func (s *Store) countStranger(ctx context.Context, subject string, most int) (counted bool, err error) {
	if most <= 0 {
		return true, nil
	}

	var n int

	err = s.db.NewRaw(`INSERT INTO stranger_counts AS c (subject, hour) VALUES (?, date_trunc('hour', now()))
		ON CONFLICT (subject, hour) DO UPDATE SET count = c.count + 1 WHERE c.count < ? RETURNING c.count`, subject, most).Scan(ctx, &n)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}

	if err != nil {
		return false, fmt.Errorf("count what strangers cause: %w", err)
	}

	return true, nil
}

// MayRegister counts a registration of a network. It is false when the network has had its registrations of this hour, which ends in next.
func (s *Store) MayRegister(ctx context.Context, network string, now time.Time) (ok bool, next time.Duration, err error) {
	ok, err = s.countStranger(ctx, registrationsOf+network, s.policies.Strangers.Registrations)

	return ok, now.Truncate(time.Hour).Add(time.Hour).Sub(now), err
}

// mayMail counts a mail that a stranger causes. It is false when they have caused those of this hour.
func (s *Store) mayMail(ctx context.Context) (bool, error) {
	return s.countStranger(ctx, mailsOfStrangers, s.policies.Strangers.Mails)
}

// MayMailUnproved is mayMail for the mail that an account asks for whose address was never proved.
func (s *Store) MayMailUnproved(ctx context.Context, u *models.User) (bool, error) {
	if u.EmailVerifiedAt != nil {
		return true, nil
	}

	return s.mayMail(ctx)
}
