package refunds_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// place asks for a second person: the first one acts, then the second one.
type place struct {
	first  func(t *testing.T, b *books, by db.Actor) (subject uuid.UUID, booking uuid.UUID)
	second func(t *testing.T, b *books, by db.Actor, subject uuid.UUID) error
	insert string // the same past the code: $1 is the subject, $2 the second person
	needs  string // why the database refuses it
}

// places are all that ask for a second person.
func places() map[string]place {
	order := func(t *testing.T, b *books, tx models.PaymentTransaction, by db.Actor) (uuid.UUID, uuid.UUID) {
		t.Helper()

		r := b.Ask(tx, "60.00")
		r.RequestedBy, r.Role = &by.UserID, by.Role
		b.Reserve(t, r)

		return r.ID, r.BookingID
	}

	return map[string]place{
		"approve": {
			func(t *testing.T, b *books, by db.Actor) (uuid.UUID, uuid.UUID) {
				t.Helper()

				return order(t, b, b.Paid(t, 1), by)
			},
			func(t *testing.T, b *books, by db.Actor, subject uuid.UUID) error {
				t.Helper()
				_, err := b.Store.Refunds.DecideApproval(t.Context(), by, bookstest.Approved(subject), time.Now())

				return err
			},
			"INSERT INTO refund_approvals (refund_id, decision, decided_by, decided_at) VALUES ($1, 'APPROVED', $2, now())", "cannot be decided so",
		},
		"confirm-payout": {
			func(t *testing.T, b *books, by db.Actor) (uuid.UUID, uuid.UUID) {
				t.Helper()

				r := b.Ask(b.PaidBill(t), "40.00") // which needs no approval
				r.RequestedBy, r.Role = &by.UserID, by.Role
				b.Reserve(t, r)

				return r.ID, r.BookingID
			},
			func(t *testing.T, b *books, by db.Actor, subject uuid.UUID) error {
				t.Helper()
				_, err := b.Store.Refunds.DecidePayout(t.Context(), by, bookstest.PaidOut(subject, "TRF-1"), time.Now())

				return err
			},
			`INSERT INTO refund_payouts (refund_id, decision, payout_reference, paid_out_on, decided_by, decided_at)
			VALUES ($1, 'PAID_OUT', 'TRF-1', current_date, $2, now())`, "cannot be decided so",
		},
		"revert-transfer": {
			func(t *testing.T, b *books, by db.Actor) (uuid.UUID, uuid.UUID) {
				t.Helper()

				tx := b.Paid(t, 1)
				line := b.Records(t, tx)[0].ID
				_, err := b.Store.Ledger.MarkTransferred(t.Context(), by, line, ledger.MarkTransfer{})
				require.NoError(t, err)

				return line, *tx.BookingID
			},
			func(t *testing.T, b *books, by db.Actor, subject uuid.UUID) error {
				t.Helper()
				_, err := b.Store.Ledger.RevertTransferred(t.Context(), by, subject, ledger.RevertTransfer{Reason: "returned"})

				return err
			},
			`INSERT INTO payout_reversals (record_id, n, transferred_at, transferred_by, reason, reverted_by)
			SELECT id, 1, transferred_at, transferred_by, 'returned', $2 FROM financial_records WHERE id = $1`, "cannot be taken back so",
		},
	}
}

// invited is an account of finance staff that a SUPER_ADMIN has just invited.
func invited(t *testing.T, b *books, by db.Actor) db.Actor {
	t.Helper()

	u, err := b.Store.Accounts.Invite(t.Context(), by, models.User{
		ID: models.NewID(), Name: "Second Mailbox", Email: uuid.NewString() + "@rihla.test", Role: models.RoleFinanceAdmin, Locale: models.LocaleEnglish,
	})
	require.NoError(t, err)

	return db.Actor{UserID: u.ID, Role: u.Role}
}

// Two accounts of which one has made, promoted, unlocked or reset the other are one person, in either order, at every place that asks for two.
func TestSecondPersonIsAnother(t *testing.T) {
	t.Parallel()

	ties := map[string]struct {
		tie     func(t *testing.T, b *books, by db.Actor) db.Actor
		refused bool
	}{
		"strangers": {func(_ *testing.T, b *books, _ db.Actor) db.Actor { return b.As(models.RoleFinanceAdmin) }, false},
		"invited":   {invited, true},
		"promoted": {func(t *testing.T, b *books, by db.Actor) db.Actor {
			t.Helper()

			support := b.Users[models.RoleSupportAgent].ID
			_, err := b.Store.Accounts.ChangeAccount(t.Context(), by, support, func(u *models.User) error {
				u.Role = models.RoleFinanceAdmin

				return nil
			})
			require.NoError(t, err)

			return db.Actor{UserID: support, Role: models.RoleFinanceAdmin}
		}, true},
		"changed otherwise": {func(t *testing.T, b *books, by db.Actor) db.Actor {
			t.Helper()

			_, err := b.Store.Accounts.ChangeAccount(t.Context(), by, b.Finance.UserID, func(u *models.User) error {
				u.Name = "Another Name"

				return nil
			})
			require.NoError(t, err)

			return b.As(models.RoleFinanceAdmin)
		}, false},
		"unlocked": {func(t *testing.T, b *books, by db.Actor) db.Actor {
			t.Helper()

			_, err := b.Store.Accounts.UnlockAccount(t.Context(), by, b.Finance.UserID)
			require.NoError(t, err)

			return b.As(models.RoleFinanceAdmin)
		}, true},
		"second factor reset": {func(t *testing.T, b *books, by db.Actor) db.Actor {
			t.Helper()
			b.Exec(t, "UPDATE users SET second_factor_at = now() WHERE id = $1", b.Finance.UserID)

			_, err := b.Store.Accounts.ResetSecondFactor(t.Context(), by, b.Finance.UserID)
			require.NoError(t, err)

			return b.As(models.RoleFinanceAdmin)
		}, true},
		"of a company then": {func(t *testing.T, b *books, by db.Actor) db.Actor {
			t.Helper()
			b.Exec(t, `INSERT INTO audit_log (id, actor_id, actor_role, action, entity, entity_id, details, request_id)
				VALUES (gen_random_uuid(), $1, 'SUPER_ADMIN', 'USER_INVITED', 'user', $2, '{"role": "PROVIDER_ADMIN"}', '')`,
				by.UserID, b.Finance.UserID)

			return b.As(models.RoleFinanceAdmin)
		}, false},
	}

	for at, p := range places() {
		t.Run(at, func(t *testing.T) {
			t.Parallel()

			for name, c := range ties {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					b := setup(t, bookstest.Strict())
					super := b.As(models.RoleSuperAdmin)
					other := c.tie(t, b, super)

					for _, pair := range [][2]db.Actor{{super, other}, {other, super}} {
						subject, _ := p.first(t, b, pair[0])

						if !c.refused {
							require.NoError(t, p.second(t, b, pair[1], subject))

							continue
						}

						bookstest.RequireCode(t, models.CodeForbidden, p.second(t, b, pair[1], subject))

						_, err := b.DB.ExecContext(t.Context(), p.insert, subject, pair[1].UserID)
						require.ErrorContains(t, err, p.needs)
						require.NoError(t, p.second(t, b, b.As(models.RoleAdmin), subject), "somebody else may")
					}
				})
			}
		})
	}
}

// After 30 days they are two people.
func TestSecondPersonAfterAMonth(t *testing.T) {
	t.Parallel()
	b := setup(t)

	tx, err := b.DB.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	defer func() { _ = tx.Rollback() }() // the audit finds an entry that is dated back

	for days, why := range map[int]string{29: "TIED", 31: ""} {
		one, other := uuid.New(), uuid.New()
		_, err := tx.ExecContext(t.Context(), `INSERT INTO audit_log (id, actor_id, actor_role, action, entity, entity_id, details, request_id, created_at)
			VALUES (gen_random_uuid(), $1, 'SUPER_ADMIN', 'USER_INVITED', 'user', $2, '{"role": "FINANCE_ADMIN"}', '',
				now() - $3 * interval '1 day')`, b.Users[models.RoleSuperAdmin].ID, one, days)
		require.NoError(t, err)

		for _, pair := range [][2]uuid.UUID{{b.Users[models.RoleSuperAdmin].ID, one}, {one, b.Users[models.RoleSuperAdmin].ID}} {
			var got string

			require.NoError(t, tx.QueryRowContext(t.Context(), "SELECT coalesce(second_person_refused($1, $2, $3), '')", pair[0], pair[1], other).Scan(&got))
			require.Equal(t, why, got)
		}
	}
}

// The booking's contact is no second person, however their address and phone are written.
func TestSecondPersonIsNotTheContact(t *testing.T) {
	t.Parallel()

	contacts := map[string]struct {
		column, value string
		refused       bool
	}{
		"the address":                {"contact_email", "admin@rihla.test", true},
		"in capitals":                {"contact_email", "Admin@Rihla.TEST", true},
		"with a tag":                 {"contact_email", "admin+hotel@rihla.test", true},
		"with invisible marks":       {"contact_email", " admin@rihla.test\u200e", true},
		"another address":            {"contact_email", "admin2@rihla.test", false},
		"the phone":                  {"contact_phone", "+966555123456", true},
		"the phone at home":          {"contact_phone", "0555 123-456", true},
		"the phone in Arabic digits": {"contact_phone", "٠٥٥٥١٢٣٤٥٦", true},
		"another phone":              {"contact_phone", "+966555123457", false},
	}

	for at, p := range places() {
		t.Run(at, func(t *testing.T) {
			t.Parallel()

			for name, c := range contacts {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					b := setup(t, bookstest.Strict())
					admin := b.As(models.RoleAdmin)
					b.Exec(t, "UPDATE users SET email = 'admin@rihla.test', phone = '+966 55 512 3456' WHERE id = $1", admin.UserID)

					subject, booking := p.first(t, b, b.As(models.RoleFinanceAdmin))
					b.Exec(t, "UPDATE bookings SET "+c.column+" = $1 WHERE id = $2", c.value, booking)

					if !c.refused {
						require.NoError(t, p.second(t, b, admin, subject))

						return
					}

					bookstest.RequireCode(t, models.CodeForbidden, p.second(t, b, admin, subject))

					_, err := b.DB.ExecContext(t.Context(), p.insert, subject, admin.UserID)
					require.ErrorContains(t, err, p.needs)
					require.NoError(t, p.second(t, b, b.As(models.RoleSuperAdmin), subject))
				})
			}
		})
	}
}

// The order of a person who is locked or removed is rejected when it is to be approved or paid out, and its amount is
// free again. What was approved before is paid out.
func TestOrderOfARequesterWhoIsGone(t *testing.T) {
	t.Parallel()

	for name, leave := range map[string]func(t *testing.T, b *books, id uuid.UUID){
		"locked": func(t *testing.T, b *books, id uuid.UUID) {
			t.Helper()

			_, err := b.Store.Accounts.LockAccount(t.Context(), b.As(models.RoleSuperAdmin), id)
			require.NoError(t, err)
		},
		"removed": func(t *testing.T, b *books, id uuid.UUID) {
			t.Helper()
			require.NoError(t, b.Store.Accounts.RemoveAccount(t.Context(), b.As(models.RoleSuperAdmin), id))
		},
	} {
		for _, at := range []string{"approve", "confirm-payout"} {
			t.Run(name+", "+at, func(t *testing.T) {
				t.Parallel()
				b, p := setup(t, bookstest.Strict()), places()[at]
				subject, _ := p.first(t, b, b.As(models.RoleFinanceAdmin))
				approved := b.Reserve(t, b.Ask(b.PaidBill(t), "60.00"))
				b.DecideApproval(t, bookstest.Approved(approved.ID), models.RoleAdmin)
				leave(t, b, b.Finance.UserID)

				_, err := b.DB.ExecContext(t.Context(), p.insert, subject, b.As(models.RoleAdmin).UserID)
				require.ErrorContains(t, err, p.needs)

				for range 2 { // the second time it is decided already
					bookstest.RequireCode(t, models.CodeInvalidState, p.second(t, b, b.As(models.RoleAdmin), subject))
				}

				r, err := b.Store.Refunds.RefundByID(t.Context(), subject)
				require.NoError(t, err)

				const note = "The account of the requester is locked or was removed."

				said := models.TextOf("refund.rejected_requester_gone")
				if r.Payout != nil {
					require.Equal(t, []any{note, said}, []any{r.Payout.Note, r.Payout.NoteText})
				} else {
					require.Equal(t, []any{note, said}, []any{r.Approval.Note, r.Approval.NoteText})
				}

				require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM audit_log WHERE entity_id = $1 AND details -> 'after' ->> 'note' = $2
					AND details -> 'after' -> 'note_text' ->> 'key' = 'refund.rejected_requester_gone'`, subject, note))

				request := models.RefundRequest{ID: subject}
				require.Equal(t, models.RefundFailed, b.SettleRefund(t, request, models.RefundResult{}).Status)
				require.Equal(t, "0.00", b.Transaction(t, r.PaymentTransactionID).RefundReservedAmount.String())

				b.Decide(t, bookstest.PaidOut(approved.ID, "TRF-2"), models.RoleAdmin)
			})
		}
	}
}
