package notify

import (
	"sync"
	"time"

	"github.com/wneessen/go-mail/smtp"
)

// smtpIdle is how long a session is kept for the next message: shorter than servers wait for one.
const smtpIdle = 5 * time.Second

// sessions are those with the mail server that have no message at the moment. The zero value has none.
type sessions struct {
	mu     sync.Mutex
	idle   []idleSession // the longest idle first
	closed bool
	timer  *time.Timer // nil: none is idle
}

type idleSession struct {
	*smtp.Client

	since time.Time
}

// take is the session that was used last; nil: there is none.
func (s *sessions) take() *smtp.Client {
	s.mu.Lock()
	defer s.mu.Unlock()

	last := len(s.idle) - 1
	if last < 0 {
		return nil
	}

	taken := s.idle[last].Client
	s.idle = s.idle[:last]

	return taken
}

// keep has a session for the next message.
func (s *sessions) keep(session *smtp.Client) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.closed {
		go quit(session)

		return
	}

	s.idle = append(s.idle, idleSession{session, time.Now()})
	if s.timer == nil {
		s.timer = time.AfterFunc(smtpIdle, s.expire)
	}
}

// expire ends the sessions that were idle for long, and comes back for the others.
func (s *sessions) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()

	old := 0
	for old < len(s.idle) && time.Since(s.idle[old].since) >= smtpIdle {
		go quit(s.idle[old].Client)

		old++
	}

	s.idle = append([]idleSession(nil), s.idle[old:]...)
	s.timer = nil

	if len(s.idle) > 0 {
		s.timer = time.AfterFunc(smtpIdle-time.Since(s.idle[0].since), s.expire)
	}
}

// close ends all sessions, and those that are kept from now on.
func (s *sessions) close() {
	s.mu.Lock()
	idle := s.idle
	s.idle, s.closed = nil, true
	s.mu.Unlock()

	var all sync.WaitGroup
	for _, session := range idle {
		all.Go(func() { quit(session.Client) })
	}

	all.Wait()
}

// quit says good-bye, and closes the connection when the server does not answer.
func quit(session *smtp.Client) {
	if session.UpdateDeadline(time.Second) != nil || session.Quit() != nil {
		_ = session.Close()
	}
}
