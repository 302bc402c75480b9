package payments_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// listen listens until the returned function is called; that returns what ended it. It answers once nothing is missed.
func listen(t *testing.T, s *store.Store, silence time.Duration) (heard chan payments.DashboardEvent, ended chan error) {
	t.Helper()

	ready := make(chan struct{})
	heard, ended = make(chan payments.DashboardEvent, 10), make(chan error, 1)

	go func() {
		ended <- payments.ListenFor(t.Context(), s.Payments, silence, silence, payments.Listener{
			Ready: func() { close(ready) }, Money: func(e payments.DashboardEvent) { heard <- e }, Decided: func(uuid.UUID) {},
		})
	}()

	select {
	case <-ready:
	case err := <-ended:
		require.NoError(t, err)
	}

	return heard, ended
}

func within[T any](t *testing.T, c chan T, what string) T {
	t.Helper()

	select {
	case v := <-c:
		return v
	case <-time.After(20 * time.Second):
		require.Fail(t, what)
		panic("unreachable")
	}
}

func TestListenDashboardSkipsWhatIsNoEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	heard, _ := listen(t, b.Store, time.Minute)

	provider := uuid.New()

	for _, payload := range []string{"", "not JSON", `{"reason": 7}`, `{"reason": "PAYMENT_SETTLED", "provider_id": "` + provider.String() + `"}`} {
		b.Exec(t, "SELECT pg_notify('dashboard', $1)", payload)
	}

	require.Equal(t, payments.DashboardEvent{Reason: "PAYMENT_SETTLED", ProviderID: provider}, within(t, heard, "the event after the others"))
}

// Marks as transferred are announced to each company once, however many entries they are about.
func TestAnnounceTransfers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	heard, _ := listen(t, b.Store, time.Minute)

	one, other := uuid.New(), uuid.New()
	require.NoError(t, b.Store.Payments.AnnounceTransfers(t.Context(), []uuid.UUID{one, other, one}))

	got := make([]uuid.UUID, 0, 2)

	for range 2 {
		e := within(t, heard, "an announcement")
		require.Equal(t, "TRANSFERS_CHANGED", e.Reason)

		got = append(got, e.ProviderID)
	}

	require.ElementsMatch(t, []uuid.UUID{one, other}, got)
	require.Empty(t, heard)
}

// What is announced in one statement is heard one by one, and nonsense between it is skipped.
func TestListenHearsOfDecidedPayments(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ready, heard := make(chan struct{}), make(chan uuid.UUID, 10)

	go func() {
		_ = b.Store.Payments.Listen(t.Context(), slog.New(slog.DiscardHandler), payments.Listener{
			Ready: func() { close(ready) }, Money: func(payments.DashboardEvent) {}, Decided: func(id uuid.UUID) { heard <- id },
		})
	}()
	within(t, ready, "listening")

	first, second, third := uuid.New(), uuid.New(), uuid.New()
	require.NoError(t, b.Store.Payments.AnnounceDecided(t.Context(), []uuid.UUID{first, second}))
	b.Exec(t, "SELECT pg_notify('payment_decided', 'none')")
	require.NoError(t, b.Store.Payments.AnnounceDecided(t.Context(), []uuid.UUID{third}))

	for _, want := range []uuid.UUID{first, second, third} {
		require.Equal(t, want, within(t, heard, "a decided payment"))
	}
}

// A listener on which nothing is said asks for a sign of life over and over, and goes on as long as there is one.
func TestListenDashboardOutlivesSilence(t *testing.T) {
	t.Parallel()
	b := setup(t)
	heard, ended := listen(t, b.Store, 100*time.Millisecond)

	const listeners = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN dashboard; LISTEN payment_decided'"

	require.Equal(t, 1, b.Count(t, listeners))

	var began time.Time

	require.NoError(t, b.DB.QueryRowContext(t.Context(), "SELECT clock_timestamp()").Scan(&began))
	require.Eventually(t, func() bool { return b.Count(t, listeners+" AND query_start > $1", began) == 1 }, 20*time.Second, 20*time.Millisecond)

	b.Exec(t, `SELECT pg_notify('dashboard', '{"reason": "REFUND_COMPLETED"}')`)
	require.Equal(t, "REFUND_COMPLETED", within(t, heard, "what comes after a silence").Reason)
	require.Empty(t, ended)
}

// A network that drops a connection without a word, here a proxy that passes nothing on any more, is noticed.
func TestListenDashboardNoticesAStalledConnection(t *testing.T) {
	t.Parallel()

	at, err := url.Parse(storetest.Database(t))
	require.NoError(t, err)

	p := startStalling(t, at.Host)
	at.Host = p.listener.Addr().String()

	s, err := store.Open(t.Context(), at.String(), models.DefaultPolicies(), db.Options{MaxConns: 1})
	require.NoError(t, err)

	defer s.Close()

	_, ended := listen(t, s, 200*time.Millisecond)
	p.stall()

	err = within(t, ended, "the end of listening")
	require.ErrorContains(t, err, "wait for notification")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// stalling passes everything on until stall is called.
type stalling struct {
	listener net.Listener
	mu       sync.RWMutex // held for writing while stalled
	once     sync.Once

	open  sync.Mutex // guards what follows
	conns []net.Conn
	over  bool
}

func startStalling(t *testing.T, to string) *stalling {
	t.Helper()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)

	p := &stalling{listener: l}

	var all sync.WaitGroup

	all.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}

			server, err := net.Dial("tcp", to)
			if err != nil {
				from.Close()

				continue
			}

			if p.keep(from, server) {
				all.Go(func() { p.pass(from, server) })
				all.Go(func() { p.pass(server, from) })
			}
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.end()
		all.Wait()
	})

	return p
}

// keep remembers connections, or closes them when it is over.
func (p *stalling) keep(conns ...net.Conn) bool {
	p.open.Lock()
	defer p.open.Unlock()

	p.conns = append(p.conns, conns...)
	if p.over {
		closeAll(p.conns)
	}

	return !p.over
}

func (p *stalling) end() {
	p.open.Lock()
	defer p.open.Unlock()

	p.over = true
	closeAll(p.conns)
	p.stall()
	p.mu.Unlock() // for those who wait to write to what is closed
}

func closeAll(conns []net.Conn) {
	for _, c := range conns {
		c.Close()
	}
}

func (p *stalling) pass(to io.WriteCloser, from io.Reader) {
	defer to.Close()

	buffer := make([]byte, 1<<16)

	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}

		p.mu.RLock()
		_, err = to.Write(buffer[:n])
		p.mu.RUnlock()

		if err != nil {
			return
		}
	}
}

// stall passes nothing on from now on.
func (p *stalling) stall() { p.once.Do(p.mu.Lock) }
