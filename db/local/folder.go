package local

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"shardpilot/control"
)

// prefix begins the name of every temporary folder of ours.
const prefix = "shardpilot-pg-"

// folder is where one server lives:
//
//	owner            says that the folder is ours, and is locked while anything in it runs
//	data             the data directory
//	postgresql.conf  ours, written before every start
//	password         the superuser's, readable by the account alone
//	postgres.log     what PostgreSQL says
type folder struct {
	path string
	keep bool
	lock *os.File
	who  account
}

// temporary makes a fresh folder that the account can reach.
func temporary(who account) (*folder, error) {
	var tried []string
	for _, root := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if slices.Contains(tried, root) {
			continue
		}
		tried = append(tried, root)
		if !who.reaches(root) {
			continue
		}
		sweep(root, who)
		path, err := os.MkdirTemp(root, prefix)
		if err != nil {
			continue
		}
		f := &folder{path: path, who: who}
		if err := f.claim(); err != nil {
			return nil, errors.Join(err, os.RemoveAll(path))
		}
		return f, nil
	}
	return nil, &control.Fault{
		Kind: control.FaultFailed,
		What: "no folder for PostgreSQL's files could be made in " + strings.Join(tried, " or "),
		Hint: "make room there, or point TMPDIR at a folder that PostgreSQL's user can enter",
	}
}

// kept opens or makes a folder whose data stays. Whatever is in it already must
// be ours: nobody's files are touched for a mistyped path.
func kept(path string, who account) (*folder, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	refuse := func(what, hint string, err error) (*folder, error) {
		return nil, &control.Fault{Kind: control.FaultRefused, What: path + " " + what, Hint: hint, Err: err}
	}
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = os.MkdirAll(path, 0o700)
	case err == nil && len(entries) > 0:
		if _, e := os.Stat(filepath.Join(path, "owner")); e != nil {
			return refuse("is not empty and was not made by shardpilot", "name an empty folder, or one that does not exist yet", e)
		}
	}
	if err != nil {
		return refuse(fmt.Sprintf("cannot be used: %v", err), "name a folder you may write to", err)
	}
	if !who.reaches(filepath.Dir(path)) {
		return refuse("cannot be reached by the user PostgreSQL runs as", "root gives PostgreSQL to an ordinary user; name a folder below one that everybody can enter", nil)
	}
	f := &folder{path: path, keep: true, who: who}
	if err := f.claim(); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return refuse("is in use by another shardpilot", "stop that one, or name another folder", err)
		}
		return refuse(fmt.Sprintf("cannot be used: %v", err), "name a folder you may write to", err)
	}
	return f, nil
}

// claim takes the folder's lock and gives the folder to the account.
func (f *folder) claim() error {
	name := filepath.Join(f.path, "owner")
	lock, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.Join(err, lock.Close())
	}
	f.lock = lock
	if err := errors.Join(os.Chmod(f.path, 0o700), f.who.give(f.path, name)); err != nil {
		return errors.Join(err, lock.Close())
	}
	return nil
}

// major is the version of the data already there, "" when there is none.
func (f *folder) major() (string, error) {
	b, err := os.ReadFile(filepath.Join(f.path, "data", "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(b)), err
}

// password reads the superuser's password, or makes one.
func (f *folder) password() (string, error) {
	b, err := os.ReadFile(filepath.Join(f.path, "password"))
	if err == nil && len(b) > 0 {
		return strings.TrimSpace(string(b)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	secret := rand.Text()
	return secret, f.write("password", secret+"\n")
}

// write puts one file there for the account alone.
func (f *folder) write(name, text string) error {
	path := filepath.Join(f.path, name)
	// A link that PostgreSQL's user left here must not lead root elsewhere.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close(), f.who.give(path))
}

// ready reads the postmaster's own account of itself: its process id and
// whether it takes connections.
func (f *folder) ready() (pid int, ok bool) {
	b, err := os.ReadFile(filepath.Join(f.path, "data", "postmaster.pid"))
	if err != nil {
		return 0, false
	}
	lines := strings.Split(string(b), "\n")
	if len(lines) < 8 || strings.TrimSpace(lines[7]) != "ready" {
		return 0, false
	}
	pid, err = strconv.Atoi(lines[0])
	return pid, err == nil
}

// lastWords are the last lines of the log.
func (f *folder) lastWords() string {
	b, err := os.ReadFile(filepath.Join(f.path, "postgres.log"))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

// sweep removes folders that a crash of the machine left behind: ours by name
// and owner, and with nobody alive who holds the lock.
func sweep(root string, who account) {
	paths, err := filepath.Glob(filepath.Join(root, prefix+"*"))
	if err != nil {
		return
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || ownerOf(info) != who.uid {
			continue
		}
		lock, err := os.OpenFile(filepath.Join(path, "owner"), os.O_RDWR|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			// What cannot be removed now is tried again at the next start.
			_ = os.RemoveAll(path)
		}
		_ = lock.Close()
	}
}

// abandon gives up a folder in which nothing was started.
func (f *folder) abandon() error {
	err := f.lock.Close()
	if !f.keep {
		err = errors.Join(err, os.RemoveAll(f.path))
	}
	return err
}
