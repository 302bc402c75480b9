package harness

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

// tapPostgres passes the statements of PostgreSQL's clients on and returns the database's address for them.
func tapPostgres(tb testing.TB, t *Tap, address string) string {
	tb.Helper()

	to, err := url.Parse(address)
	require.NoError(tb, err)

	var listen net.ListenConfig

	l, err := listen.Listen(tb.Context(), "tcp", "127.0.0.1:0")
	require.NoError(tb, err)

	var sessions sync.WaitGroup

	ctx, end := context.WithCancel(context.Background())

	tb.Cleanup(func() {
		end()

		_ = l.Close()

		sessions.Wait()
	})

	sessions.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}

			sessions.Go(func() { serveSession(ctx, t, client, to.Host) })
		}
	})

	return replaceHost(tb, address, l.Addr().String())
}

func serveSession(ctx context.Context, t *Tap, client net.Conn, to string) {
	defer client.Close()

	var dial net.Dialer

	server, err := dial.DialContext(ctx, "tcp", to)
	if err != nil {
		return
	}
	defer server.Close()

	stop := context.AfterFunc(ctx, func() { _, _ = client.Close(), server.Close() })
	defer stop()

	s := session{
		client: pgproto3.NewBackend(client, client), server: pgproto3.NewFrontend(server, server), prepared: map[string]string{},
	}

	if s.login() != nil {
		return
	}

	for {
		statement, err := s.request()
		if err != nil {
			return
		}

		if isNoise(statement) {
			err = s.answer()
		} else if !t.pass(statement, s.answer) {
			return
		}

		if err != nil || s.client.Flush() != nil {
			return
		}
	}
}

// isNoise tells what the driver says of its own accord, and what every worker does each second whatever happens, from what the service
// does: the longer a journey takes, the more of it there would be between two requests.
func isNoise(statement string) bool {
	return statement == "" || slices.ContainsFunc(noise, func(begin string) bool { return strings.HasPrefix(statement, begin) })
}

var noise = []string{"-- ping", "DEALLOCATE", "SELECT fold_reports(", "SELECT clean_search_lists("}

// session passes the messages of one connection on. A message is valid until the next one is received, so it is encoded
// at once, and leaves with Flush.
type session struct {
	client   *pgproto3.Backend  // the tap is the client's server,
	server   *pgproto3.Frontend // and the server's client
	prepared map[string]string  // statements by their names
}

var errNoSession = errors.New("the first message does not begin a session")

// login passes on what comes before the first statement.
func (s *session) login() error {
	first, err := s.client.ReceiveStartupMessage()
	if err != nil {
		return err
	}

	// The service reaches its database without TLS here, and a query is cancelled on a connection of its own.
	if _, ok := first.(*pgproto3.StartupMessage); !ok {
		return errNoSession
	}

	s.server.Send(first)

	for {
		if err := s.server.Flush(); err != nil {
			return err
		}

		message, err := s.server.Receive()
		if err != nil {
			return err
		}

		s.client.Send(message)

		if err := s.client.Flush(); err != nil {
			return err
		}

		switch message.(type) {
		case *pgproto3.ReadyForQuery:
			return nil
		case *pgproto3.AuthenticationCleartextPassword, *pgproto3.AuthenticationMD5Password,
			*pgproto3.AuthenticationSASL, *pgproto3.AuthenticationSASLContinue:
			if err := s.password(); err != nil {
				return err
			}
		}
	}
}

// password takes the client's answer to the server's last message.
func (s *session) password() error {
	if err := s.client.SetAuthType(s.server.GetAuthType()); err != nil {
		return err
	}

	answer, err := s.client.Receive()
	if err == nil {
		s.server.Send(answer)
	}

	return err
}

// request takes what the client sends until it waits for an answer, and returns the statement in it.
func (s *session) request() (statement string, err error) {
	for {
		message, err := s.client.Receive()
		if err != nil {
			return "", err
		}

		s.server.Send(message)

		switch m := message.(type) {
		case *pgproto3.Query:
			return oneLine(m.String), nil
		case *pgproto3.Parse:
			s.prepared[m.Name] = oneLine(m.Query)
		case *pgproto3.Bind:
			statement = s.prepared[m.PreparedStatement]
		case *pgproto3.Sync:
			return statement, nil
		case *pgproto3.Terminate:
			return "", io.EOF
		}
	}
}

// answer sends the request and takes what the server answers to it.
func (s *session) answer() error {
	if err := s.server.Flush(); err != nil {
		return err
	}

	for {
		message, err := s.server.Receive()
		if err != nil {
			return err
		}

		s.client.Send(message)

		if _, ok := message.(*pgproto3.ReadyForQuery); ok {
			return nil
		}
	}
}

// oneLine is a statement as a person reads it in a list.
func oneLine(statement string) string {
	const long = 90

	text := strings.Join(strings.Fields(statement), " ")
	if len(text) > long {
		text = strings.ToValidUTF8(text[:long], "") + "…"
	}

	return text
}
