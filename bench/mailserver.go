package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// mailServer is a mail server on this machine that takes a while for each message.
type mailServer struct {
	address  string
	takes    time.Duration
	listener net.Listener

	mu    sync.Mutex
	taken []takenMail
	conns int // that were made
}

// takenMail is a message that was taken, in this order.
type takenMail struct {
	to, id     string // id is that of the outbox row
	begun, end time.Time
}

func newMailServer(ctx context.Context, takes time.Duration) (*mailServer, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}

	s := &mailServer{address: listener.Addr().String(), takes: takes, listener: listener}

	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}

			s.mu.Lock()
			s.conns++
			s.mu.Unlock()

			go s.serve(conn)
		}
	}()

	return s, nil
}

// take is what was taken since the last call.
func (s *mailServer) take() []takenMail {
	s.mu.Lock()
	defer s.mu.Unlock()

	all := s.taken
	s.taken = nil

	return all
}

func (s *mailServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return len(s.taken)
}

func (s *mailServer) serve(conn net.Conn) {
	defer conn.Close()

	in, to := bufio.NewReader(conn), ""
	say := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") }

	say("220 bench ESMTP")

	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}

		switch command := strings.ToUpper(strings.TrimSpace(line)); {
		case strings.HasPrefix(command, "RCPT"):
			to = strings.ToLower(strings.Trim(strings.TrimSpace(line)[len("RCPT TO:"):], "<>"))

			say("250 ok")
		case command == "DATA":
			say("354 go on")

			mail := takenMail{to: to, begun: time.Now()}
			mail.id = readMail(in)

			time.Sleep(s.takes)

			mail.end = time.Now()

			s.mu.Lock()
			s.taken = append(s.taken, mail)
			s.mu.Unlock()

			say("250 taken")
		case command == "QUIT":
			say("221 bye")

			return
		default:
			say("250 ok")
		}
	}
}

// readMail reads a message to its end and returns the first part of its Message-ID.
func readMail(in *bufio.Reader) (id string) {
	for {
		line, err := in.ReadString('\n')
		if err != nil || line == ".\r\n" {
			return id
		}

		if value, ok := strings.CutPrefix(line, "Message-ID: <"); ok {
			id, _, _ = strings.Cut(value, "@")
		}
	}
}
