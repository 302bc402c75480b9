package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"rihla/models"
)

// crowd are customers who wait for their payments, each over a connection of its own, and ask again when their time is over.
type crowd struct {
	members []crowdMember
	address string

	running  sync.WaitGroup
	leaving  atomic.Bool
	answered atomic.Int64 // requests, those of customers who have asked again included

	mu    sync.Mutex
	conns []*keptConn
	errs  []error
}

type crowdMember struct {
	waitingCustomer

	told chan time.Time // when the payment is no longer open
}

func newCrowd(customers []waitingCustomer, address string) *crowd {
	c := &crowd{address: address, members: make([]crowdMember, len(customers))}
	for i := range c.members {
		c.members[i] = crowdMember{waitingCustomer: customers[i], told: make(chan time.Time, 1)}
	}

	return c
}

// connsPerSource is how many connections one address of this machine has to the same server: there are 28,000 ports by default.
const connsPerSource = 10000

// dial connects the customer with that number. On Linux every address of 127.0.0.0/8 is this machine.
func (c *crowd) dial(ctx context.Context, i int, query string) (*keptConn, error) {
	m := &c.members[i]
	from := &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(1+i/connsPerSource))} //nolint:mnd,gosec // loopback; few thousands of thousands

	return dialKeptFrom(ctx, from, c.address, "/api/v1/bookings/"+m.booking.String()+"/payment-status"+query, m.token)
}

// come has all customers come and wait, one after the other. It returns when the last one has sent its request.
func (c *crowd) come(ctx context.Context, pace *rate.Limiter) error {
	query := "?wait=" + strconv.Itoa(int(longestWait.Seconds()))

	for i := range c.members {
		if err := pace.Wait(ctx); err != nil {
			return err
		}

		conn, err := c.dial(ctx, i, query)
		if err != nil {
			return fmt.Errorf("customer %d of %d: %w", i+1, len(c.members), err)
		}

		c.mu.Lock()
		c.conns = append(c.conns, conn)
		c.mu.Unlock()

		if err := conn.send(); err != nil {
			return err
		}

		c.running.Go(func() { c.wait(conn, c.members[i].told) })
	}

	return c.err()
}

// wait reads answers, and asks again after one that says that the payment is still open.
func (c *crowd) wait(conn *keptConn, told chan<- time.Time) {
	for {
		err := conn.receive()
		now := time.Now()

		if c.leaving.Load() {
			return
		}

		c.answered.Add(1)

		if err == nil && !bytes.Contains(conn.answer.Body(), []byte(`"payment_status":"`+string(models.TransactionPending)+`"`)) {
			told <- now

			return
		}

		if err == nil {
			err = conn.send()
		}

		if err != nil {
			c.mu.Lock()
			c.errs = append(c.errs, err)
			c.mu.Unlock()

			return
		}
	}
}

// pollOnce asks without waiting, over one of the connections that were used for that before, or a new one.
func (c *crowd) pollOnce(ctx context.Context, free chan *keptConn, i int) (took time.Duration, err error) {
	var conn *keptConn

	select {
	case conn = <-free:
	default:
		if conn, err = c.dial(ctx, i, ""); err != nil {
			return 0, err
		}

		c.mu.Lock()
		c.conns = append(c.conns, conn)
		c.mu.Unlock()
	}

	began := time.Now()
	err = conn.get()
	took = time.Since(began)

	free <- conn

	return took, err
}

func (c *crowd) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()

	if len(c.errs) == 0 {
		return nil
	}

	return fmt.Errorf("%d customers got no answer; the first: %w", len(c.errs), c.errs[0])
}

// leave closes all connections. Its error is that of a customer who got no answer before.
func (c *crowd) leave() error {
	err := c.err()

	c.leaving.Store(true)

	c.mu.Lock()
	for _, conn := range c.conns {
		err = errors.Join(err, conn.Close())
	}
	c.mu.Unlock()

	c.running.Wait()

	return err
}

// settle settles the payment of a customer as a worker does: the gateway's event is stored, and then has its effect.
func (b *waitingBench) settle(ctx context.Context, c waitingCustomer) error {
	amount := models.MustMoney(webhookPrice)

	_, err := b.store.Inbox.StoreEvent(ctx, models.WebhookEvent{
		ID: models.NewID(), Channel: c.channel, WebhookID: uuid.NewString(), Type: models.EventPaymentSucceeded,
		CheckoutID: checkoutPrefix + c.attempt.String(), MerchantReference: c.attempt.String(), Amount: &amount, Currency: models.Currency,
		PaymentMethod: models.MethodCreditCard, OccurredAt: time.Now(),
	}, time.Now())
	if err != nil {
		return err
	}

	_, err = b.store.Payments.SettlePayment(ctx, c.attempt, time.Now())

	return err
}

// line prints the round. What each customer needs is the difference to a round with fewer: what the process needs besides is in both.
func (r *waitingRound) line(out io.Writer, name, part string, fewer *waitingRound) {
	const kilo, mega = 1e3, 1e6

	share := func(parts ...string) string {
		return fmt.Sprintf("%.1f", 100*r.quiet.total(parts...).Seconds()/r.quietFor.Seconds()) //nolint:mnd // percent
	}
	each := "–"

	if fewer != nil && fewer.customers > 0 {
		each = fmt.Sprintf("%.1f", float64(r.memory-fewer.memory)/float64(r.customers-fewer.customers)/kilo)
	}

	cells := []string{
		name, strconv.Itoa(r.customers), fmt.Sprintf("%.0f", float64(r.memory)/mega), each,
		fmt.Sprintf("%.1f", float64(r.quiet.statements)/r.quietFor.Seconds()), share(part), share(partPostgres),
	}

	if len(r.told.took) == 0 {
		cells = append(cells, "–", "–", "–", "–", "–")
	} else {
		cells = append(cells, msFine(r.told.at(0.5)), msFine(r.told.at(tailShare)), msFine(r.told.at(1)),
			msFine(r.plain.at(0.5)), msFine(r.plain.at(tailShare)))
	}

	fmt.Fprintln(out, "| "+strings.Join(cells, " | ")+" |")
}
