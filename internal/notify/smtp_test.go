package notify

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	gomail "github.com/wneessen/go-mail"

	"rihla/internal/config"
	"rihla/models"
)

// mailServer is a small real SMTP server on 127.0.0.1.
type mailServer struct {
	address string
	// replies overrides the answer to a command, such as "RCPT".
	replies map[string]string

	mu       sync.Mutex
	letters  []string
	commands []string
	conns    []net.Conn
}

func newMailServer(t *testing.T, tlsConfig *tls.Config, replies map[string]string) *mailServer {
	t.Helper()

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)

	if tlsConfig != nil {
		listener = tls.NewListener(listener, tlsConfig)
	}

	s := &mailServer{address: listener.Addr().String(), replies: replies}

	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}

			wg.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		wg.Wait()
	})

	return s
}

func (s *mailServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()

	s.mu.Lock()
	s.conns = append(s.conns, conn)
	s.mu.Unlock()

	in := bufio.NewReader(conn)
	say := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") }
	say("220 mail.test ESMTP")

	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}

		command, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		command = strings.ToUpper(command)
		s.mu.Lock()
		s.commands = append(s.commands, strings.TrimSpace(line))
		s.mu.Unlock()

		switch reply := s.replies[command]; {
		case reply == "hang up":
			return
		case reply != "":
			say(reply)
		case command == "EHLO":
			say("250-mail.test\r\n250-AUTH PLAIN\r\n250 ENHANCEDSTATUSCODES")
		case command == "AUTH":
			say("235 2.7.0 welcome")
		case command == "DATA":
			say("354 go on")
			s.take(in)

			if reply := s.replies["."]; reply != "" {
				say(reply)
			} else {
				say("250 2.0.0 taken")
			}
		case command == "QUIT":
			say("221 bye")

			return
		default:
			say("250 2.0.0 ok")
		}
	}
}

func (s *mailServer) take(in *bufio.Reader) {
	var letter strings.Builder

	for {
		line, err := in.ReadString('\n')
		if err != nil || line == ".\r\n" {
			break
		}

		letter.WriteString(strings.TrimPrefix(line, "."))
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	s.letters = append(s.letters, letter.String())
}

// hangUp closes all connections.
func (s *mailServer) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, conn := range s.conns {
		_ = conn.Close()
	}
}

func (s *mailServer) received() (letters, commands []string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.letters, s.commands
}

// parts are the decoded alternatives of a letter by content type.
func parts(t *testing.T, letter string) (header mail.Header, byType map[string]string) {
	t.Helper()

	m, err := mail.ReadMessage(strings.NewReader(letter))
	require.NoError(t, err)

	related := multipart.NewReader(m.Body, boundary(t, m.Header.Get("Content-Type"), "multipart/related"))

	alternatives, err := related.NextRawPart()
	require.NoError(t, err)

	byType = readParts(t, multipart.NewReader(alternatives, boundary(t, alternatives.Header.Get("Content-Type"), "multipart/alternative")))

	logo, err := related.NextRawPart()
	require.NoError(t, err)
	require.Equal(t, "<"+logoID+">", logo.Header.Get("Content-ID"))
	require.Contains(t, logo.Header.Get("Content-Type"), "image/png")

	return m.Header, byType
}

func boundary(t *testing.T, contentType, want string) string {
	t.Helper()

	kind, params, err := mime.ParseMediaType(contentType)
	require.NoError(t, err)
	require.Equal(t, want, kind)

	return params["boundary"]
}

func readParts(t *testing.T, r *multipart.Reader) map[string]string {
	t.Helper()

	byType := map[string]string{}

	for {
		part, err := r.NextRawPart()
		if err == io.EOF { //nolint:errorlint // documented to be bare
			return byType
		}

		require.NoError(t, err)
		require.Equal(t, "quoted-printable", part.Header.Get("Content-Transfer-Encoding"))

		body, err := io.ReadAll(quotedprintable.NewReader(part))
		require.NoError(t, err)

		kind, _, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
		require.NoError(t, err)

		byType[kind] = strings.ReplaceAll(string(body), "\r\n", "\n")
	}
}

func TestSMTPDelivers(t *testing.T) {
	t.Parallel()

	server := newMailServer(t, nil, nil)
	n, outbox := newTestNotifier(t, map[string]string{
		"SMTP_URL": "smtp://" + server.address, "MAIL_FROM": "Rihla <bookings@rihla.example>",
	})
	m := testMessage(models.NotifyPaymentSucceeded, models.NotifyEmail, models.LocaleArabic)
	require.NoError(t, n.Send(t.Context(), m))
	require.NoError(t, n.Send(t.Context(), m))

	letters, commands := server.received()
	require.Len(t, letters, 2)
	require.Contains(t, commands, "MAIL FROM:<bookings@rihla.example>")
	require.Contains(t, commands, "RCPT TO:<traveller@example.com>")

	want, err := newTestRenderer(t).Render(m)
	require.NoError(t, err)

	for _, letter := range letters {
		header, byType := parts(t, letter)
		require.Equal(t, "<"+m.ID.String()+"@rihla.example>", header.Get("Message-ID"), "a duplicate can be recognized")
		require.Equal(t, map[string]string{"text/plain": want.Text, "text/html": want.HTML}, byType)
	}

	require.NoDirExists(t, outbox)
}

func TestSMTPOverTLSWithPassword(t *testing.T) {
	t.Parallel()

	// httptest brings a certificate for 127.0.0.1 and a client that trusts it.
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS()
	t.Cleanup(certified.Close)

	roots := x509.NewCertPool()
	roots.AddCert(certified.Certificate())

	server := newMailServer(t, &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS12}, nil)
	address := config.Secret("smtps://post:s3cret%2Fword@" + server.address)
	from := &mail.Address{Name: "Rihla", Address: "bookings@rihla.example"}
	m := testMessage(models.NotifyRefundSucceeded, models.NotifyEmail, models.LocaleEnglish)

	s, err := newSMTP(address, from, newTestRenderer(t), gomail.WithTLSConfig(&tls.Config{
		RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12,
	}))
	require.NoError(t, err)
	t.Cleanup(s.Close)
	require.NoError(t, s.Send(t.Context(), m))

	letters, commands := server.received()
	require.Len(t, letters, 1)
	require.Contains(t, commands, "AUTH PLAIN "+base64.StdEncoding.EncodeToString([]byte("\x00post\x00s3cret/word")))

	// A certificate of an unknown authority is refused.
	s, err = NewSMTP(address, from, newTestRenderer(t))
	require.NoError(t, err)
	require.ErrorContains(t, s.Send(t.Context(), m), "certificate")
}

func TestSMTPPasswordNeverTravelsInClear(t *testing.T) {
	t.Parallel()

	server := newMailServer(t, nil, nil)
	n, _ := newTestNotifier(t, map[string]string{"SMTP_URL": "smtp://post:s3cret@" + server.address})
	err := n.Send(t.Context(), testMessage(models.NotifyPaymentFailed, models.NotifyEmail, models.LocaleArabic))
	require.Error(t, err)
	require.False(t, IsPermanent(err))

	_, commands := server.received()
	require.NotContains(t, fmt.Sprint(commands), "AUTH")
}

func TestSMTPFailures(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		replies   map[string]string
		delivered bool
		permanent bool
	}{
		"mailbox unknown":      {replies: map[string]string{"RCPT": "550 5.1.1 <traveller@example.com> unknown"}, permanent: true},
		"content refused":      {replies: map[string]string{".": "554 5.7.1 traveller@example.com does not want this"}, permanent: true},
		"greylisted":           {replies: map[string]string{"RCPT": "450 4.2.0 <traveller@example.com> come back later"}},
		"mailbox busy":         {replies: map[string]string{".": "451 4.3.0 busy"}},
		"sender must sign in":  {replies: map[string]string{"MAIL": "530 5.7.0 sign in first"}},
		"server hangs up":      {replies: map[string]string{"RCPT": "hang up"}},
		"hang-up at greeting":  {replies: map[string]string{"EHLO": "hang up"}},
		"no good-bye":          {replies: map[string]string{"QUIT": "hang up"}, delivered: true},
		"trouble after taking": {replies: map[string]string{"RSET": "421 4.3.2 closing"}, delivered: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server := newMailServer(t, nil, tt.replies)
			n, _ := newTestNotifier(t, map[string]string{"SMTP_URL": "smtp://" + server.address})
			err := n.Send(t.Context(), testMessage(models.NotifyPaymentFailed, models.NotifyEmail, models.LocaleArabic))
			require.Equal(t, tt.delivered, err == nil, err)
			require.Equal(t, tt.permanent, IsPermanent(err), err)

			if err != nil {
				require.NotContains(t, err.Error(), "traveller")
			}
		})
	}

	// A server that is not there.
	n, _ := newTestNotifier(t, map[string]string{"SMTP_URL": "smtp://127.0.0.1:1"})
	err := n.Send(t.Context(), testMessage(models.NotifyPaymentFailed, models.NotifyEmail, models.LocaleArabic))
	require.ErrorContains(t, err, "connect to mail server")
	require.False(t, IsPermanent(err))
}

// TestSMTPSessionsAreKept: the next message goes over the same session. One that the server has closed meanwhile costs no message.
func TestSMTPSessionsAreKept(t *testing.T) {
	t.Parallel()

	server := newMailServer(t, nil, nil)
	n, _ := newTestNotifier(t, map[string]string{"SMTP_URL": "smtp://" + server.address})

	for range 3 {
		require.NoError(t, n.Send(t.Context(), testMessage(models.NotifyPaymentSucceeded, models.NotifyEmail, models.LocaleArabic)))
	}

	greetings := func() (count int) {
		_, commands := server.received()
		for _, command := range commands {
			if strings.HasPrefix(command, "EHLO") {
				count++
			}
		}

		return count
	}

	require.Equal(t, 1, greetings())

	server.hangUp()
	require.NoError(t, n.Send(t.Context(), testMessage(models.NotifyPaymentSucceeded, models.NotifyEmail, models.LocaleArabic)))
	require.Equal(t, 2, greetings())

	letters, _ := server.received()
	require.Len(t, letters, 4)

	n.Close()
	require.Eventually(t, func() bool {
		_, commands := server.received()

		return commands[len(commands)-1] == "QUIT"
	}, 10*time.Second, 10*time.Millisecond)
}

func TestNewSMTPAddress(t *testing.T) {
	t.Parallel()

	for _, address := range []config.Secret{"", "mail.example.com", "http://u:s3cret@h", "smtp://u:s3cret@h:99999", "smtp://u:s3cret@h:port"} {
		_, err := NewSMTP(address, &mail.Address{}, newTestRenderer(t))
		require.Error(t, err)
		require.NotContains(t, err.Error(), "s3cret")
	}
}
