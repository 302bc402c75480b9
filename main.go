// Rihla takes payments for trips and campaigns: README.md says how to run it.
package main

import (
	"os"

	"rihla/cmd"
)

func main() { os.Exit(cmd.Execute(os.Args[1:], os.Stdout, os.Stderr)) }
