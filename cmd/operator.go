package cmd

import (
	"os"
	"os/user"
	"strconv"

	"rihla/internal/store/db"
)

// operator is who runs the command, as the audit log names them: the system user, and behind sudo also who called it.
func operator() db.Actor {
	name := "uid " + strconv.Itoa(os.Getuid()) // of a container without a list of users

	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}

	if caller := os.Getenv("SUDO_USER"); caller != "" && caller != name {
		name += " (sudo by " + caller + ")"
	}

	return db.Actor{Operator: name}
}
