package harness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

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

	s := session{client: client, server: server, in: bufio.NewReader(client), out: bufio.NewReader(server), prepared: map[string]string{}}

	if s.login() != nil {
		return
	}

	for {
		request, what, err := s.request()
		if err != nil {
			return
		}

		var answer []byte

		send := func() error {
			if _, err := server.Write(request); err != nil {
				return err
			}

			answer, err = s.answer()

			return err
		}

		if isNoise(what) {
			err = send()
		} else if !t.pass(what, send) {
			return
		}

		if err != nil {
			return
		}

		if _, err := client.Write(answer); err != nil {
			return
		}
	}
}

// isNoise tells what the driver says of its own accord from what the service does.
func isNoise(statement string) bool {
	return statement == "" || strings.HasPrefix(statement, "-- ping") || strings.HasPrefix(statement, "DEALLOCATE")
}

// session speaks PostgreSQL's protocol 3: messages of a type, a length and a body.
type session struct {
	client, server net.Conn
	in, out        *bufio.Reader
	prepared       map[string]string // statements by their names
}

const (
	cancelRequest = 80877102
	readyForQuery = 'Z'
)

// login passes on what comes before the first statement.
func (s *session) login() error {
	code, err := s.startup()
	if err != nil {
		return err
	}

	if code == cancelRequest {
		return io.EOF
	}

	for {
		kind, message, err := read(s.out)
		if err != nil {
			return err
		}

		if _, err := s.client.Write(message); err != nil || kind == readyForQuery {
			return err
		}

		if err := s.password(kind, message); err != nil {
			return err
		}
	}
}

// startup passes on the first message, which has no type, and returns its code.
func (s *session) startup() (code uint32, err error) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(s.in, head); err != nil {
		return 0, err
	}

	message := make([]byte, binary.BigEndian.Uint32(head))
	copy(message, head)

	if _, err := io.ReadFull(s.in, message[len(head):]); err != nil {
		return 0, err
	}

	_, err = s.server.Write(message)

	return binary.BigEndian.Uint32(head[4:]), err
}

// password passes on the client's answer when the server has asked for one: 0 is "authenticated", 12 SCRAM's last word.
func (s *session) password(kind byte, message []byte) error {
	if kind != 'R' {
		return nil
	}

	if code := binary.BigEndian.Uint32(message[5:]); code == 0 || code == 12 {
		return nil
	}

	_, answer, err := read(s.in)
	if err == nil {
		_, err = s.server.Write(answer)
	}

	return err
}

// read returns one message, whole.
func read(r *bufio.Reader) (kind byte, message []byte, err error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, nil, err
	}

	message = make([]byte, 1+binary.BigEndian.Uint32(head[1:]))
	copy(message, head)
	_, err = io.ReadFull(r, message[5:])

	return head[0], message, err
}

// request reads what the client sends until it waits for an answer, and the statement in it.
func (s *session) request() (request []byte, statement string, err error) {
	for {
		kind, message, err := read(s.in)
		if err != nil {
			return nil, "", err
		}

		request = append(request, message...)
		body := message[5:]

		switch kind {
		case 'Q':
			return request, oneLine(body), nil
		case 'P':
			name, rest, _ := bytes.Cut(body, []byte{0})
			text, _, _ := bytes.Cut(rest, []byte{0})
			s.prepared[string(name)] = oneLine(text)
		case 'B':
			_, rest, _ := bytes.Cut(body, []byte{0})
			name, _, _ := bytes.Cut(rest, []byte{0})
			statement = s.prepared[string(name)]
		case 'S':
			return request, statement, nil
		case 'X':
			return nil, "", io.EOF
		}
	}
}

// answer reads what the server answers to one request.
func (s *session) answer() (answer []byte, err error) {
	for {
		kind, message, err := read(s.out)
		if err != nil {
			return nil, err
		}

		answer = append(answer, message...)

		if kind == readyForQuery {
			return answer, nil
		}
	}
}

// oneLine is a statement as a person reads it in a list.
func oneLine(statement []byte) string {
	const long = 90

	text := strings.Join(strings.Fields(strings.TrimRight(string(statement), "\x00")), " ")
	if len(text) > long {
		text = strings.ToValidUTF8(text[:long], "") + "…"
	}

	return text
}
