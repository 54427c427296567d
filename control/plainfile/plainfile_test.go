package plainfile

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Nobody writes to the pipe and nobody reads from it: whoever waits for that
// waits until the deadline.
func TestOnlyOrdinaryFilesAreOpenedAndNobodyIsWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pipe", at("link to pipe")); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", at("s"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	for _, path := range []string{at("pipe"), at("link to pipe"), at("s"), dir, "/dev/zero"} {
		said := make(chan error, 2)
		go func() {
			_, err := Open(path)
			said <- err
			_, err = ReadSettings(path)
			said <- err
		}()
		for range cap(said) {
			select {
			case err := <-said:
				if err == nil || err.Error() != path+" is no ordinary file" {
					t.Errorf("of %s it says %v", path, err)
				}
			case <-time.After(2 * time.Minute):
				t.Fatalf("%s is waited for", path)
			}
		}
	}
	if _, err := Open(at("nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a file that is not there it says %v", err)
	}
}

func TestSettingsAreReadWholeAndBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	for size, refused := range map[int]bool{0: false, 5: false, MostSettings: false, MostSettings + 1: true} {
		if err := os.WriteFile(path, []byte(strings.Repeat("#", size)), 0o600); err != nil {
			t.Fatal(err)
		}
		text, err := ReadSettings(path)
		if refused != (err != nil && strings.Contains(err.Error(), "larger than")) || !refused && len(text) != size {
			t.Errorf("of %d bytes %d were read: %v", size, len(text), err)
		}
	}
	if text, err := ReadSettings(os.DevNull); err != nil || len(text) > 0 {
		t.Errorf("the null device holds %q, %v", text, err)
	}
}
