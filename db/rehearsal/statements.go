package rehearsal

import (
	"embed"
	"io/fs"
	"slices"
)

// files hold one statement each, under sql/.
//
//go:embed sql
var files embed.FS

// statement is the text of sql/<name>. The names are constants of this package
// and the files are in the binary, so a name that is not there cannot survive
// the first test; the server then gets an empty statement and says so.
func statement(name string) string {
	b, err := files.ReadFile("sql/" + name)
	if err != nil {
		return ""
	}
	return string(b)
}

// statementsIn lists the statements of one folder in the order of their names.
func statementsIn(folder string) ([]string, error) {
	entries, err := fs.ReadDir(files, "sql/"+folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, folder+"/"+e.Name())
	}
	slices.Sort(names)
	return names, nil
}
