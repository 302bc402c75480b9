package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"rihla/internal/brand"
	"rihla/internal/config"
)

// smtpTimeout bounds the wait for each answer of the mail server.
const smtpTimeout = 10 * time.Second

// SMTP is a Sender that hands mail to a server. It is safe for concurrent use; a connection has one message at a time, and is kept for a
// while for the next one.
type SMTP struct {
	client   *gomail.Client
	sessions sessions
	from     *mail.Address
	renderer *Renderer
}

// NewSMTP reads an address like smtp://user:password@host:587 (STARTTLS; demanded when there is a password, unless the
// server is this machine) or smtps://… (TLS from the start, port 465 by default). A password never travels unencrypted.
func NewSMTP(address config.Secret, from *mail.Address, renderer *Renderer) (*SMTP, error) {
	return newSMTP(address, from, renderer)
}

func newSMTP(address config.Secret, from *mail.Address, renderer *Renderer, more ...gomail.Option) (*SMTP, error) {
	u, err := url.Parse(address.Reveal())
	if err != nil || u.Hostname() == "" || (u.Scheme != "smtp" && u.Scheme != "smtps") {
		return nil, errors.New("SMTP_URL is not like smtp://user:password@host:587") // the parser's error would quote the password
	}

	// Where plain text is allowed TLS with a certificate of any signer is better than none.
	anybody := &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12, InsecureSkipVerify: true} //nolint:gosec // see above
	options := []gomail.Option{gomail.WithTimeout(smtpTimeout), gomail.WithTLSPolicy(gomail.TLSOpportunistic)}
	plain := u.Scheme == "smtp"

	if user := u.User.Username(); user != "" {
		password, _ := u.User.Password()
		options = append(options,
			gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(user), gomail.WithPassword(password))

		if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
			plain = false
		}
	}

	if plain {
		options = append(options, gomail.WithTLSConfig(anybody))
	}

	port := gomail.DefaultPort
	if u.Scheme == "smtps" {
		port = gomail.DefaultPortSSL

		options = append(options, gomail.WithSSL())
	}

	if p := u.Port(); p != "" {
		if port, err = strconv.Atoi(p); err != nil {
			return nil, errors.New("SMTP_URL has a port that is not a number")
		}
	}

	client, err := gomail.NewClient(u.Hostname(), append(append(options, gomail.WithPort(port)), more...)...)
	if err != nil {
		return nil, fmt.Errorf("SMTP_URL: %w", err)
	}

	return &SMTP{client: client, from: from, renderer: renderer}, nil
}

// Send implements Sender. The server's words are left out of errors: they tend to repeat the address.
func (s *SMTP) Send(ctx context.Context, m Message) error {
	text, err := s.renderer.Render(m)
	if err != nil {
		return err
	}

	letter, err := newLetter(m, text, s.from)
	if err != nil {
		return err
	}

	if session := s.sessions.take(); session != nil {
		// The server may have closed it: it is asked first (NOOP), and nothing was sent when it does not answer.
		err := s.send(session, letter)
		if refusal, ok := errors.AsType[*gomail.SendError](err); !ok || refusal.Reason != gomail.ErrConnCheck {
			return smtpError(err)
		}
	}

	session, err := s.client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return failedTo(connectFault(err), fmt.Errorf("notify: connect to mail server: %w", err))
	}

	return smtpError(s.send(session, letter))
}

// send hands a letter over, and keeps the session when it is good for another one.
func (s *SMTP) send(session *smtp.Client, letter *gomail.Msg) error {
	err := s.client.SendWithSMTPClient(session, letter)
	if err == nil {
		s.sessions.keep(session)

		return nil
	}

	// The server has accepted the message before QUIT, or refused it; the end of the session changes nothing.
	_ = s.client.CloseWithSMTPClient(session)

	if letter.IsDelivered() {
		return nil
	}

	return err
}

// Close ends the sessions that are kept.
func (s *SMTP) Close() { s.sessions.close() }

// smtpError tells what is wrong with a message from what is wrong with the server or us; the server's words are left out.
func smtpError(err error) error {
	if err == nil {
		return nil
	}

	refusal, ok := errors.AsType[*gomail.SendError](err)
	if !ok {
		return failedTo("connection lost", errors.New("notify: the mail server closed the connection"))
	}

	const (
		permanentFrom = 500
		needsAuth     = 530
		badAuth       = 535
		needsTLS      = 538
	)

	code := refusal.ErrorCode()

	switch {
	case code == needsAuth || code == badAuth || code == needsTLS || code < permanentFrom:
		// Our own settings, the server's state, or the line: none of it is the message's fault.
		kind := "connection lost"

		switch {
		case code == needsAuth || code == badAuth:
			kind = fmt.Sprintf("authentication, SMTP code %d", code)
		case code > 0:
			kind = fmt.Sprintf("SMTP code %d", code)
		}

		return failedTo(kind, fmt.Errorf("notify: the mail server did not take the message (%s, code %d)", refusal.Reason, code))
	default:
		return failedTo(fmt.Sprintf("SMTP code %d", code),
			permanentf("the mail server refused the message (%s, code %d %s)", refusal.Reason, code, refusal.EnhancedStatusCode()))
	}
}

// newLetter is the MIME message: text and HTML, marked as automatic, with a Message-ID made from the id.
func newLetter(m Message, text Rendered, from *mail.Address) (*gomail.Msg, error) {
	to, err := mailAddress(m.To)
	if err != nil {
		return nil, err
	}

	letter := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	letter.FromMailAddress(from)
	letter.ToMailAddress(to)
	letter.Subject(text.Subject)
	letter.SetDate()
	letter.SetMessageIDWithValue(m.ID.String() + from.Address[strings.LastIndexByte(from.Address, '@'):])
	letter.SetGenHeader("Auto-Submitted", "auto-generated")
	letter.SetGenHeader(gomail.HeaderContentLang, string(m.Locale))
	letter.SetBodyString(gomail.TypeTextPlain, text.Text)
	letter.AddAlternativeString(gomail.TypeTextHTML, text.HTML)

	// The logo is in the mail: an address of it would tell us who opens the mail and when.
	err = letter.EmbedReader("rihla.png", bytes.NewReader(brand.IconPNG), gomail.WithFileContentID("<"+logoID+">"))
	if err != nil {
		return nil, permanentf("write mail: %w", err)
	}

	return letter, nil
}
