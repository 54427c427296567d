package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// sweep removes temporary folders that a crash of the machine left behind: ours
// by name and owner, not new, and with nobody alive who holds the lock. What
// cannot be removed now is tried again at the next start.
func sweep(root string, who account) {
	paths, err := filepath.Glob(filepath.Join(root, prefix+"*"))
	if err != nil { // only a malformed pattern: root holds a bracket
		return
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < staleAfter {
			continue
		}
		if owner := ownerOf(info); owner == who.uid || owner == os.Geteuid() {
			sweepOne(path)
		}
	}
}

func sweepOne(path string) {
	lock, err := os.OpenFile(filepath.Join(path, "owner"), os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(path) // its maker got no further than making it; fails unless empty
		return
	}
	if err != nil {
		return
	}
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		_ = os.RemoveAll(path)
	}
	_ = lock.Close()
}
