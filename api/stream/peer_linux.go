package stream

import "syscall"

// hungUp reports whether the client has closed the connection behind unread bytes.
func hungUp(fd int) bool {
	poll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return false
	}
	defer syscall.Close(poll)

	// A broken connection is reported unasked.
	err = syscall.EpollCtl(poll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLRDHUP})
	if err != nil {
		return false
	}

	n, err := syscall.EpollWait(poll, make([]syscall.EpollEvent, 1), 0)

	return err == nil && n > 0
}
