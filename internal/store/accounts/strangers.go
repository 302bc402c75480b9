package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"rihla/internal/store/db"
	"rihla/models"
)

// What strangers cause is counted by the hour of the clock.

// mailsOfStrangers is the subject under which their mails are counted, and with a network behind it those of one network; registrationsOf
// begins that of a network's registrations.
const mailsOfStrangers, registrationsOf = "mails", "registrations "

const (
	// A network causes at most one in so many of the mails of all strangers, and at least so many.
	networkShare, leastOfNetwork = 20, 10
	// linksOfMailbox is how many mails with a link the unproved accounts of one mailbox get within a day.
	linksOfMailbox = 20
)

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

// mayMail counts a mail that a stranger of a network causes. It is false when the network has had its share of this hour, or all strangers
// have caused those of this hour; the mails that are refused then are counted (Overdue.StrangerMails).
func (s *Store) mayMail(ctx context.Context, network string) (bool, error) {
	most := s.policies.Strangers.Mails
	if network != "" && most > 0 {
		if ok, err := s.countStranger(ctx, mailsOfStrangers+" "+network, max(most/networkShare, leastOfNetwork)); err != nil || !ok {
			return false, err
		}
	}

	ok, err := s.countStranger(ctx, mailsOfStrangers, most)
	if err == nil && !ok {
		_, err = s.countStranger(ctx, db.StrangerMailsRefused, math.MaxInt32)
	}

	return ok, err
}

// MayMailUnproved counts a mail that asks for a link, unless the account's address is proved, which only the account's own limit bounds: a
// stranger must not use up what owners need. It is false, too, when the account or its mailbox has had its mails, which is not counted.
func (s *Store) MayMailUnproved(
	ctx context.Context, by db.Actor, u *models.User, purpose models.AccountTokenPurpose,
) (bool, error) {
	if u.EmailVerifiedAt != nil {
		return true, nil
	}

	most, within := purpose.MailLimit()

	var due bool

	err := s.db.NewRaw(`SELECT (SELECT count(*) FROM account_tokens WHERE user_id = ?0 AND purpose = ?1 AND used_at IS NULL
				AND created_at > now() - ?2 * interval '1 second') < ?3
			AND (SELECT count(*) FROM account_tokens WHERE `+db.MailboxSQL("email")+` = `+db.MailboxSQL("?4")+`
				AND created_at > now() - interval '1 day') < ?5`,
		u.ID, purpose, within.Seconds(), most, u.Email, linksOfMailbox).Scan(ctx, &due)
	if err != nil {
		return false, fmt.Errorf("count the links of a mailbox: %w", err)
	}

	if !due {
		return false, nil
	}

	return s.mayMail(ctx, by.Network)
}
