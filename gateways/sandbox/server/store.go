package server

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"rihla/models"
)

// Buckets. Keys that begin with a merchant's name end it with a NUL, which no name contains.
var (
	bucketCheckouts    = []byte("checkouts")     // id → checkoutRow
	bucketCheckoutRefs = []byte("checkout_refs") // merchant NUL merchant_reference → id
	bucketRefunds      = []byte("refunds")       // id → refundRow
	bucketRefundRefs   = []byte("refund_refs")   // merchant NUL merchant_reference → id
	bucketIdempotency  = []byte("idempotency")   // merchant NUL operation NUL key → storedAnswer
	bucketOutbox       = []byte("outbox")        // event id → delivery
	bucketTimers       = []byte("timers")        // checkout or refund id → Unix nanoseconds, big-endian
)

const (
	// lockWait is how long another process may hold the file before opening it fails.
	lockWait = 2 * time.Second
	// batchDelay is how long a commit waits for company, so that concurrent requests share one fsync.
	batchDelay = time.Millisecond
)

// store is the durable state. Every change is one transaction.
type store struct {
	db   *bbolt.DB
	temp string // directory to remove on close; empty for a file of the caller's
}

func openStore(file string, noSync bool) (*store, error) {
	s := &store{}

	if file == "" {
		dir, err := os.MkdirTemp("", "sandbox-gateway-")
		if err != nil {
			return nil, fmt.Errorf("sandbox server: %w", err)
		}

		s.temp, file, noSync = dir, filepath.Join(dir, "state.db"), true
	} else if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, fmt.Errorf("sandbox server: %w", err)
	}

	db, err := bbolt.Open(file, 0o600, &bbolt.Options{
		Timeout: lockWait, NoSync: noSync, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType,
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("sandbox server: %s is in use by another process", file)
	} else if err != nil {
		return nil, fmt.Errorf("sandbox server: open %s: %w", file, err)
	}

	db.MaxBatchDelay = batchDelay
	s.db = db

	err = db.Update(func(b *bbolt.Tx) error {
		for _, name := range [][]byte{
			bucketCheckouts, bucketCheckoutRefs, bucketRefunds, bucketRefundRefs, bucketIdempotency, bucketOutbox, bucketTimers,
		} {
			if _, err := b.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}

		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sandbox server: prepare %s: %w", file, err), s.close())
	}

	return s, nil
}

func (s *store) close() error {
	err := s.db.Close()
	if s.temp != "" {
		err = errors.Join(err, os.RemoveAll(s.temp))
	}

	return err
}

func (s *store) view(read func(*tx) error) error {
	return s.db.View(func(b *bbolt.Tx) error { return read(&tx{b: b}) })
}

// update commits what change wrote, together with what others write at the same time, and returns the
// transaction that counted: change may run more than once and must only touch the transaction and variables
// that it sets anew.
func (s *store) update(change func(*tx) error) (*tx, error) {
	var counted *tx

	err := s.db.Batch(func(b *bbolt.Tx) error {
		counted = &tx{b: b}

		return change(counted)
	})

	return counted, err
}

// tx is one transaction, and what has to be scheduled once it is committed.
type tx struct {
	b      *bbolt.Tx
	timers []job
	events []string
}

// checkoutRow is a checkout as stored and as the ledger shows it.
type checkoutRow struct {
	ID                string       `json:"id"`
	Merchant          string       `json:"merchant"`
	MerchantReference string       `json:"merchant_reference"`
	Status            string       `json:"status"`
	Amount            models.Money `json:"amount"`
	Currency          string       `json:"currency"`
	// ClaimedAmount is what a fault made the gateway say that it took, where that is more; so much can be refunded.
	ClaimedAmount  *models.Money        `json:"claimed_amount,omitempty"`
	RefundedAmount models.Money         `json:"refunded_amount"` // succeeded and pending refunds
	PaymentMethod  models.PaymentMethod `json:"payment_method"`
	Description    string               `json:"description"`
	ReturnURL      string               `json:"return_url"`
	ExpiresAt      time.Time            `json:"expires_at"`
	CreatedAt      time.Time            `json:"created_at"`
	PaidAt         *time.Time           `json:"paid_at"`
	ResultCode     string               `json:"result_code"`
	FailureReason  string               `json:"failure_reason"`
}

// refundRow is a refund as stored and as the ledger shows it.
type refundRow struct {
	ID                string       `json:"id"`
	Merchant          string       `json:"merchant"`
	CheckoutID        string       `json:"checkout_id"`
	MerchantReference string       `json:"merchant_reference"`
	Amount            models.Money `json:"amount"`
	Currency          string       `json:"currency"`
	Reason            string       `json:"reason"`
	Status            string       `json:"status"`
	FailureReason     string       `json:"failure_reason"`
	CreatedAt         time.Time    `json:"created_at"`
	DecidedAt         *time.Time   `json:"decided_at"`
	DecideAs          string       `json:"decide_as,omitempty"` // what the timer decides: succeed or fail
}

func (t *tx) get(bucket []byte, key string, row any) (bool, error) {
	raw := t.b.Bucket(bucket).Get([]byte(key))
	if raw == nil {
		return false, nil
	}

	if err := json.Unmarshal(raw, row); err != nil {
		return false, fmt.Errorf("read %s %q: %w", bucket, key, err)
	}

	return true, nil
}

func (t *tx) put(bucket []byte, key string, row any) error {
	raw, err := json.Marshal(row)
	if err != nil {
		return fmt.Errorf("write %s %q: %w", bucket, key, err)
	}

	return t.b.Bucket(bucket).Put([]byte(key), raw)
}

func (t *tx) checkout(id string) (*checkoutRow, error) {
	row := new(checkoutRow)
	if ok, err := t.get(bucketCheckouts, id, row); !ok {
		return nil, err
	}

	return row, nil
}

func (t *tx) putCheckout(c *checkoutRow) error { return t.put(bucketCheckouts, c.ID, c) }

func (t *tx) refund(id string) (*refundRow, error) {
	row := new(refundRow)
	if ok, err := t.get(bucketRefunds, id, row); !ok {
		return nil, err
	}

	return row, nil
}

func (t *tx) putRefund(r *refundRow) error { return t.put(bucketRefunds, r.ID, r) }

// byReference is the id of the merchant's checkout or refund with the reference, empty when there is none.
func (t *tx) byReference(bucket []byte, merchant, reference string) string {
	return string(t.b.Bucket(bucket).Get([]byte(merchant + "\x00" + reference)))
}

func (t *tx) putReference(bucket []byte, merchant, reference, id string) error {
	return t.b.Bucket(bucket).Put([]byte(merchant+"\x00"+reference), []byte(id))
}

// remind sets the checkout's or refund's timer.
func (t *tx) remind(id string, at time.Time) error {
	t.timers = append(t.timers, job{id: id, at: at})

	return t.b.Bucket(bucketTimers).Put([]byte(id), binary.BigEndian.AppendUint64(nil, uint64(at.UnixNano())))
}

func (t *tx) forget(id string) error { return t.b.Bucket(bucketTimers).Delete([]byte(id)) }

func (t *tx) eachTimer(do func(id string, at time.Time)) {
	for k, v := range t.each(bucketTimers) {
		do(string(k), time.Unix(0, int64(binary.BigEndian.Uint64(v)))) //nolint:gosec // written by remind
	}
}

func (t *tx) eachDelivery(do func(id string)) {
	for k := range t.each(bucketOutbox) {
		do(string(k))
	}
}

// each walks a bucket in key order, which for ids is the order of creation.
func (t *tx) each(bucket []byte) func(yield func(k, v []byte) bool) {
	return func(yield func(k, v []byte) bool) {
		cursor := t.b.Bucket(bucket).Cursor()
		for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
			if !yield(k, v) {
				return
			}
		}
	}
}

// newID is unguessable and grows with time, so that rows are appended to the end of their bucket.
func newID(prefix string) (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("new id: %w", err)
	}

	return prefix + id.String(), nil
}
