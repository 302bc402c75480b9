package engine

import (
	"bytes"
	"cmp"
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
	bucketCheckouts    = []byte("checkouts")     // id → Checkout
	bucketCheckoutRefs = []byte("checkout_refs") // merchant NUL merchant_reference NUL order → id
	bucketRefunds      = []byte("refunds")       // id → Refund
	bucketRefundRefs   = []byte("refund_refs")   // merchant NUL merchant_reference NUL order → id
	bucketIdempotency  = []byte("idempotency")   // merchant NUL operation NUL key → storedAnswer
	bucketOutbox       = []byte("outbox")        // event id → delivery
	bucketTimers       = []byte("timers")        // checkout or refund id → Unix nanoseconds, big-endian
	bucketDebits       = []byte("debits")        // id of a further debit → checkout id
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
		dir, err := os.MkdirTemp("", "payment-simulator-")
		if err != nil {
			return nil, fmt.Errorf("simulator: %w", err)
		}

		s.temp, file, noSync = dir, filepath.Join(dir, "state.db"), true
	} else if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}

	db, err := bbolt.Open(file, 0o600, &bbolt.Options{
		Timeout: lockWait, NoSync: noSync, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType,
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("simulator: %s is in use by another process", file)
	} else if err != nil {
		return nil, fmt.Errorf("simulator: open %s: %w", file, err)
	}

	db.MaxBatchDelay = batchDelay
	s.db = db

	err = db.Update(func(b *bbolt.Tx) error {
		for _, name := range [][]byte{
			bucketCheckouts, bucketCheckoutRefs, bucketRefunds, bucketRefundRefs, bucketIdempotency, bucketOutbox, bucketTimers,
			bucketDebits,
		} {
			if _, err := b.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}

		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("simulator: prepare %s: %w", file, err), s.close())
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

func (s *store) view(read func(*Tx) error) error {
	return s.db.View(func(b *bbolt.Tx) error { return read(&Tx{b: b}) })
}

// update commits what change wrote, together with what others write at the same time, and returns the
// transaction that counted: change may run more than once and must only touch the transaction and variables
// that it sets anew.
func (s *store) update(change func(*Tx) error) (*Tx, error) {
	var counted *Tx

	err := s.db.Batch(func(b *bbolt.Tx) error {
		counted = &Tx{b: b}

		return change(counted)
	})

	return counted, err
}

// Tx is one transaction, and what has to be scheduled once it is committed.
type Tx struct {
	b      *bbolt.Tx
	timers []job
	events []string
}

// Checkout is a checkout as stored and as the ledger shows it.
type Checkout struct {
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
	// PaidBy is what the customer has paid with instead, where that is another method than was asked for.
	PaidBy        models.PaymentMethod `json:"paid_by,omitempty"`
	Description   string               `json:"description"`
	ReturnURL     string               `json:"return_url"`
	ExpiresAt     time.Time            `json:"expires_at"`
	CreatedAt     time.Time            `json:"created_at"`
	PaidAt        *time.Time           `json:"paid_at"`
	ResultCode    string               `json:"result_code"`
	FailureReason string               `json:"failure_reason"`
	Attempts      []Attempt            `json:"attempts,omitempty"`   // that were declined, where the checkout stays open
	RefundIDs     []string             `json:"refund_ids,omitempty"` // the oldest first
	SecondDebits  []SecondDebit        `json:"second_debits,omitempty"`
	Data          map[string]string    `json:"data,omitempty"` // what the company keeps besides
}

// Method is what the checkout was paid with, or is to be.
func (c *Checkout) Method() models.PaymentMethod { return cmp.Or(c.PaidBy, c.PaymentMethod) }

// Refund is a refund as stored and as the ledger shows it.
type Refund struct {
	ID                string       `json:"id"`
	Merchant          string       `json:"merchant"`
	CheckoutID        string       `json:"checkout_id"`
	PaymentID         string       `json:"payment_id,omitempty"` // of a further debit: that gives the money back
	MerchantReference string       `json:"merchant_reference"`
	Amount            models.Money `json:"amount"`
	Currency          string       `json:"currency"`
	Reason            string       `json:"reason"`
	Status            string       `json:"status"`
	FailureReason     string       `json:"failure_reason"`
	CreatedAt         time.Time    `json:"created_at"`
	DecidedAt         *time.Time   `json:"decided_at"`
	DecideAs          string       `json:"decide_as,omitempty"` // what the timer decides: succeed or fail
	Dashboard         bool         `json:"dashboard,omitempty"` // made by a person there, without an order

	Data map[string]string `json:"data,omitempty"` // what the company keeps besides
}

func (t *Tx) get(bucket []byte, key string, row any) (bool, error) {
	raw := t.b.Bucket(bucket).Get([]byte(key))
	if raw == nil {
		return false, nil
	}

	if err := json.Unmarshal(raw, row); err != nil {
		return false, fmt.Errorf("read %s %q: %w", bucket, key, err)
	}

	return true, nil
}

func (t *Tx) put(bucket []byte, key string, row any) error {
	raw, err := json.Marshal(row)
	if err != nil {
		return fmt.Errorf("write %s %q: %w", bucket, key, err)
	}

	return t.b.Bucket(bucket).Put([]byte(key), raw)
}

// Checkout reads a checkout as it is stored; nil when there is none.
func (t *Tx) Checkout(id string) (*Checkout, error) {
	row := new(Checkout)
	if ok, err := t.get(bucketCheckouts, id, row); !ok {
		return nil, err
	}

	return row, nil
}

// PutCheckout stores a checkout.
func (t *Tx) PutCheckout(c *Checkout) error { return t.put(bucketCheckouts, c.ID, c) }

// Refund reads a refund; nil when there is none.
func (t *Tx) Refund(id string) (*Refund, error) {
	row := new(Refund)
	if ok, err := t.get(bucketRefunds, id, row); !ok {
		return nil, err
	}

	return row, nil
}

func (t *Tx) putRefund(r *Refund) error { return t.put(bucketRefunds, r.ID, r) }

// CheckoutsOf are the ids of the account's checkouts with the reference, the oldest first.
func (t *Tx) CheckoutsOf(account, reference string) []string {
	return t.byReference(bucketCheckoutRefs, account, reference)
}

// RefundsOf are the ids of the account's refunds with the reference, the oldest first.
func (t *Tx) RefundsOf(account, reference string) []string {
	return t.byReference(bucketRefundRefs, account, reference)
}

func (t *Tx) byReference(bucket []byte, account, reference string) (ids []string) {
	prefix := referenceKey(account, reference, "")
	cursor := t.b.Bucket(bucket).Cursor()

	for k, v := cursor.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = cursor.Next() {
		ids = append(ids, string(v))
	}

	return ids
}

func (t *Tx) putReference(bucket []byte, account, reference, id string) error {
	order, err := NewID("")
	if err != nil {
		return err
	}

	return t.b.Bucket(bucket).Put(referenceKey(account, reference, order), []byte(id))
}

// referenceKey orders by time: ids of companies need not.
func referenceKey(account, reference, order string) []byte {
	return []byte(account + "\x00" + reference + "\x00" + order)
}

// remind sets the checkout's or refund's timer.
func (t *Tx) remind(id string, at time.Time) error {
	t.timers = append(t.timers, job{id: id, at: at})

	return t.b.Bucket(bucketTimers).Put([]byte(id), binary.BigEndian.AppendUint64(nil, uint64(at.UnixNano())))
}

func (t *Tx) forget(id string) error { return t.b.Bucket(bucketTimers).Delete([]byte(id)) }

func (t *Tx) eachTimer(do func(id string, at time.Time)) {
	for k, v := range t.each(bucketTimers) {
		do(string(k), time.Unix(0, int64(binary.BigEndian.Uint64(v)))) //nolint:gosec // written by remind
	}
}

func (t *Tx) eachDelivery(do func(id string)) {
	for k := range t.each(bucketOutbox) {
		do(string(k))
	}
}

// each walks a bucket in key order, which for ids is the order of creation.
func (t *Tx) each(bucket []byte) func(yield func(k, v []byte) bool) {
	return func(yield func(k, v []byte) bool) {
		cursor := t.b.Bucket(bucket).Cursor()
		for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
			if !yield(k, v) {
				return
			}
		}
	}
}

// NewID is unguessable and grows with time, so that rows are appended to the end of their bucket.
func NewID(prefix string) (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("new id: %w", err)
	}

	return prefix + id.String(), nil
}
