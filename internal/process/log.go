package process

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxLog is the size in bytes beyond which a log is set aside (one generation) when its process starts.
const maxLog = 10 << 20

func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // our own file
}

// LogSize is the size of a log in bytes, 0 when there is none.
func LogSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// LogTail returns what was written to the log since offset, at most its last lines, for an error message.
func LogTail(path string, offset int64) string {
	file, err := os.Open(path) //nolint:gosec // our own file
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	const most = 4 << 10
	if info, err := file.Stat(); err == nil {
		if info.Size() < offset { // it was set aside meanwhile
			offset = 0
		}
		offset = max(offset, info.Size()-most)
	}
	text, err := io.ReadAll(io.NewSectionReader(file, offset, most))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}
