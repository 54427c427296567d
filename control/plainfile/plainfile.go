// Package plainfile opens files that somebody named, and ordinary ones only. A
// named pipe or a device may keep whoever opens or reads it waiting for ever,
// deaf to the signal that is to end the process.
package plainfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// MostSettings is how large a file of settings may be, in bytes.
const MostSettings = 1 << 20

// Open opens a file for reading, without waiting for anybody. What it is is asked
// of what was opened, so that nobody can put something else there in between.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if errors.Is(err, syscall.ENXIO) { // a socket, or a device that is not there
		return nil, notPlain(path)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notPlain(path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func notPlain(path string) error { return fmt.Errorf("%s is no ordinary file", path) }

// ReadSettings reads a file of settings whole; one above MostSettings is refused.
// The null device is an empty one, as people name it who want none.
func ReadSettings(path string) ([]byte, error) {
	if path == os.DevNull {
		return nil, nil
	}
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, MostSettings+1))
	if err == nil && len(text) > MostSettings {
		err = fmt.Errorf("%s is larger than a file of settings may be, 1 MiB", path)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}
