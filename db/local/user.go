package local

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"shardpilot/control"
)

// account is who PostgreSQL runs as. PostgreSQL refuses to run as root.
type account struct {
	uid, gid int
	drop     bool // whether that is somebody other than ourselves
}

// runAs is ourselves, or for root the user postgres, else nobody.
func runAs() (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.Atoi(u.Uid)
		gid, errGID := strconv.Atoi(u.Gid)
		if errUID == nil && errGID == nil && uid != 0 {
			return account{uid: uid, gid: gid, drop: true}, nil
		}
	}
	return account{}, &control.Fault{
		Kind: control.FaultFailed,
		What: "PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody to run it as",
		Hint: "start shardpilot as an ordinary user, or create the user postgres",
	}
}

// attributes put a process into a session of its own, so that a Ctrl-C in the
// terminal does not reach it before it reaches us, and give root away.
func (a account) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if a.drop {
		attr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attr
}

// give hands something we made over to the account. Nobody else may be able to
// put another thing in its place; where the account could, use giveFile.
func (a account) give(path string) error {
	if !a.drop {
		return nil
	}
	return os.Lchown(path, a.uid, a.gid)
}

// giveFile hands an open file over to the account.
func (a account) giveFile(f *os.File) error {
	if !a.drop {
		return nil
	}
	return f.Chown(a.uid, a.gid)
}

// reaches says whether the account may walk into dir (mode bits only; an access
// list that allows more is not seen, and then we copy without need).
func (a account) reaches(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	for {
		info, err := os.Stat(real)
		if err != nil {
			return false
		}
		want := fs.FileMode(0o001)
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			switch {
			case int(st.Uid) == a.uid:
				want = 0o100
			case int(st.Gid) == a.gid:
				want = 0o010
			}
		}
		if info.Mode().Perm()&want == 0 {
			return false
		}
		if real == filepath.Dir(real) {
			return true
		}
		real = filepath.Dir(real)
	}
}

// trusted refuses a .postgres that a stranger may have put there: programs found
// in it are run, by root perhaps. It must be ours, root's, or belong to the
// owner of a folder that not everybody can write to.
func trusted(root, store string) bool {
	info, err := os.Stat(store)
	if err != nil {
		return false
	}
	owner := ownerOf(info)
	if owner == 0 || owner == os.Geteuid() {
		return true
	}
	parent, err := os.Stat(root)
	return err == nil && parent.Mode().Perm()&0o002 == 0 && owner == ownerOf(parent)
}

// ownerOf is the user id a file belongs to, -1 when the system does not say.
func ownerOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// within returns binaries the account can run: the ones given, or a copy of
// them inside folder when they lie where the account cannot go (a checkout in
// root's home).
func (a account) within(b Binaries, folder string) (Binaries, error) {
	if !a.drop || a.reaches(b.Dir) {
		return b, nil
	}
	prefix := filepath.Dir(b.Dir)
	// Only a tree that carries everything beside bin still works elsewhere.
	if _, err := os.Stat(filepath.Join(prefix, "share")); err != nil {
		return Binaries{}, &control.Fault{
			Kind: control.FaultFailed,
			What: "root gives PostgreSQL to an ordinary user, and that user cannot reach " + b.Dir,
			Hint: "make the folders above it enterable (chmod o+x), or run shardpilot as an ordinary user",
		}
	}
	target := filepath.Join(folder, "postgres")
	if err := a.copyTree(prefix, target); err != nil {
		return Binaries{}, fmt.Errorf("copy %s to where PostgreSQL's user can reach it: %w", prefix, err)
	}
	b.Dir = filepath.Join(target, filepath.Base(b.Dir))
	if b.LibDir != "" {
		b.LibDir = filepath.Join(target, filepath.Base(b.LibDir))
	}
	return b, nil
}

// copyTree copies a tree and gives the copy to the account, which removes it in
// the end. Hard links would be cheaper, but would give the original away too.
func (a account) copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if err := copyEntry(path, target, d); err != nil {
			return err
		}
		return a.give(target)
	})
}

func copyEntry(from, to string, d fs.DirEntry) error {
	switch {
	case d.IsDir():
		return os.MkdirAll(to, 0o755)
	case d.Type()&fs.ModeSymlink != 0:
		link, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(link, to)
	}
	return copyFile(from, to, d)
}

func copyFile(from, to string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	return os.WriteFile(to, data, mode)
}
