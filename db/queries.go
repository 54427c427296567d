package db

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed sql
var sqlFiles embed.FS

// query is the text of one file below sql/, without ".sql". The files are part
// of the program: a name that is not there is a mistake that any test finds.
func query(name string) string {
	b, err := sqlFiles.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(fmt.Sprintf("db: no statement %s", name))
	}
	return string(b)
}

// queryIn is a statement that names objects of a schema only known at run time:
// @schema@ in the file becomes the quoted identifier.
func queryIn(name, schema string) string {
	return strings.ReplaceAll(query(name), "@schema@", ident(schema))
}
