package process

import (
	"os"
	"strings"
)

// Entries are settings in the form of an environment.
func Entries(settings map[string]string) []string {
	env := make([]string, 0, len(settings))
	for name, value := range settings {
		env = append(env, name+"="+value)
	}
	return env
}

// Environ is this process's environment without the variables for which drop is true, and with extra.
func Environ(drop func(name string) bool, extra ...string) []string {
	var env []string
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !drop(name) {
			env = append(env, entry)
		}
	}
	return append(env, extra...)
}
