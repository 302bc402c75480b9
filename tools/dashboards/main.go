// Command dashboards writes the boards for Grafana into docs/dashboards, from the root of the repository:
// go -C tools/dashboards run . ../../docs/dashboards
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 { //nolint:mnd // the folder
		fmt.Fprintln(os.Stderr, "usage: dashboards FOLDER")
		os.Exit(1)
	}

	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	all, err := files()
	if err != nil {
		return err
	}

	for name, text := range all {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil { //nolint:gosec // documents
			return err
		}
	}

	return nil
}

// files are the boards by the names of their files.
func files() (map[string][]byte, error) {
	all := map[string][]byte{}

	for _, b := range []board{operators(), temporal()} {
		built, err := b.build()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.title, err)
		}

		text, err := json.MarshalIndent(built, "", "  ")
		if err != nil {
			return nil, err
		}

		all[b.uid+".json"] = append(text, '\n')
	}

	return all, nil
}
