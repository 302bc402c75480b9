package devstack

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Ports are the ports that a data directory's parts had the last time, by their names. A part that had to take another port than
// its usual one takes that one again: links that were kept, such as the address of a checkout page, still open.
// Its methods may be called from several goroutines; the data directory's lock keeps other processes away.
type Ports struct {
	file string

	mu   sync.Mutex
	kept map[string]int
}

// portsFile is in a directory that Reset wipes: a fresh start begins with the usual ports.
func portsFile(dataDir string) string { return filepath.Join(dataDir, "run", "ports.json") }

// openPorts reads what was kept in dataDir. A file that is missing or cannot be read stands for none.
func openPorts(dataDir string) *Ports {
	p := &Ports{file: portsFile(dataDir), kept: map[string]int{}}
	if text, err := os.ReadFile(p.file); err == nil {
		kept := map[string]int{}
		if json.Unmarshal(text, &kept) == nil && kept != nil {
			p.kept = kept
		}
	}
	return p
}

// Prefer is the port that the named part had the last time, or usual when it had none. 0 stands for any port.
func (p *Ports) Prefer(name string, usual int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if port := p.kept[name]; port > 0 && port <= 65535 {
		return port
	}
	return usual
}

// Keep notes the port that the named part has now.
func (p *Ports) Keep(name string, port int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept[name] == port {
		return nil
	}
	p.kept[name] = port
	text, err := json.Marshal(p.kept)
	if err != nil {
		return err
	}
	draft := p.file + ".new"
	if err := os.WriteFile(draft, text, 0o600); err != nil {
		return fmt.Errorf("keep the ports: %w", err)
	}
	return os.Rename(draft, p.file)
}
