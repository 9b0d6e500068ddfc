// Exports how go/types resolves the names of a Go module, as reference data for references.
//
// Usage: go run go_truth.go FOLDER > truth.json
//
// The output is described in scip_truth.py. Packages of the module and of the standard library are read from source;
// other packages are empty without a network, and names that depend on them are null: not known. So are names in files
// that are not built on this platform.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

type judge struct {
	root    string
	fset    *token.FileSet
	modules map[string]string // the path of a module to its folder
	checked map[string]*types.Package
	std     types.Importer
	symbols map[string][][5]any
	uses    map[string]map[token.Pos][4]any
	imports map[string][]int
	defined map[string]bool
}

func (j *judge) place(pos token.Pos) (string, int) {
	at := j.fset.Position(pos)
	path, err := filepath.Rel(j.root, at.Filename)
	if err != nil || strings.HasPrefix(path, "..") {
		return "", 0
	}
	return filepath.ToSlash(path), at.Line
}

// Import reads a package of the project or of the standard library; all others are empty.
func (j *judge) Import(path string) (*types.Package, error) {
	if found, ok := j.checked[path]; ok {
		return found, nil
	}
	for module, folder := range j.modules {
		if path == module || strings.HasPrefix(path, module+"/") {
			return j.check(path, filepath.Join(folder, strings.TrimPrefix(path, module)), false), nil
		}
	}
	if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") {
		return j.std.Import(path)
	}
	return nil, fmt.Errorf("%s is of another project", path)
}

// check reads the package of a folder: as others import it, or with its tests, in which case all names are recorded.
func (j *judge) check(path, folder string, tests bool) *types.Package {
	found, err := build.ImportDir(folder, 0)
	if err != nil {
		return types.NewPackage(path, filepath.Base(folder))
	}
	names := append(append([]string{}, found.GoFiles...), found.CgoFiles...)
	if tests {
		names = append(names, found.TestGoFiles...)
	}
	inner := j.files(path, folder, names, tests)
	if !tests {
		j.checked[path] = inner
	} else if len(found.XTestGoFiles) > 0 {
		before := j.checked[path]
		j.checked[path] = inner // outer tests see what the inner ones export
		j.files(path+"_test", folder, found.XTestGoFiles, true)
		j.checked[path] = before
	}
	return inner
}

func (j *judge) files(path, folder string, names []string, record bool) *types.Package {
	var files []*ast.File
	for _, name := range names {
		if file, err := parser.ParseFile(j.fset, filepath.Join(folder, name), nil, parser.SkipObjectResolution); err == nil {
			files = append(files, file)
		}
	}
	info := types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: j, Error: func(error) {}, FakeImportC: true}
	result, _ := config.Check(path, j.fset, files, &info)
	if record {
		for _, file := range files {
			j.record(file, &info)
		}
	}
	return result
}

// key identifies an object by its definition, so that it is the same in a package with and without tests.
func (j *judge) key(object types.Object) string {
	if function, ok := object.(*types.Func); ok {
		object = function.Origin()
	}
	path, line := j.place(object.Pos())
	return fmt.Sprintf("%s:%d:%s", path, line, object.Name())
}

func (j *judge) record(file *ast.File, info *types.Info) {
	path, _ := j.place(file.Pos())
	if _, known := j.uses[path]; known {
		return
	}
	uses := map[token.Pos][4]any{}
	j.uses[path] = uses
	symbol := func(node ast.Node, name *ast.Ident, qualified string) {
		_, first := j.place(node.Pos())
		_, line := j.place(name.Pos())
		_, last := j.place(node.End())
		key := fmt.Sprintf("%s:%d:%s", path, line, name.Name)
		j.defined[key] = true
		j.symbols[path] = append(j.symbols[path], [5]any{first, line, last, qualified, key})
	}
	for _, declaration := range file.Decls {
		switch node := declaration.(type) {
		case *ast.FuncDecl:
			name := node.Name.Name
			if node.Recv != nil && len(node.Recv.List) > 0 {
				name = receiver(node.Recv.List[0].Type) + "." + name
			}
			symbol(node, node.Name, name)
		case *ast.GenDecl:
			for _, spec := range node.Specs {
				if kind, ok := spec.(*ast.TypeSpec); ok {
					symbol(kind, kind.Name, kind.Name.Name)
					if face, ok := kind.Type.(*ast.InterfaceType); ok {
						for _, method := range face.Methods.List {
							for _, name := range method.Names {
								symbol(method, name, kind.Name.Name+"."+name.Name)
							}
						}
					}
				}
			}
			if node.Tok == token.IMPORT {
				_, first := j.place(node.Pos())
				_, last := j.place(node.End())
				for line := first; line <= last; line++ {
					j.imports[path] = append(j.imports[path], line)
				}
			}
		}
	}
	called := map[*ast.Ident]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		function := ast.Unparen(call.Fun)
		switch generic := function.(type) {
		case *ast.IndexExpr:
			function = generic.X
		case *ast.IndexListExpr:
			function = generic.X
		}
		switch function := function.(type) {
		case *ast.Ident:
			called[function] = true
		case *ast.SelectorExpr:
			called[function.Sel] = true
		}
		return true
	})
	ast.Inspect(file, func(node ast.Node) bool {
		name, ok := node.(*ast.Ident)
		if !ok || name.Name == "_" || info.Defs[name] != nil {
			return true
		}
		_, line := j.place(name.Pos())
		object := info.Uses[name]
		var keys any
		if object != nil {
			keys = []string{}
			switch object.(type) {
			case *types.Func, *types.TypeName:
				if object.Pos().IsValid() {
					keys = []string{j.key(object)}
				}
			}
			if kind, ok := object.(*types.PkgName); ok && kind.Imported() == nil {
				keys = nil
			}
		}
		uses[name.Pos()] = [4]any{line, name.Name, called[name], keys}
		return true
	})
}

func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.IndexListExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return "?"
}

func main() {
	root, err := filepath.Abs(os.Args[1])
	if err != nil {
		panic(err)
	}
	j := &judge{root: root, fset: token.NewFileSet(), modules: map[string]string{}, checked: map[string]*types.Package{},
		symbols: map[string][][5]any{}, uses: map[string]map[token.Pos][4]any{}, imports: map[string][]int{}, defined: map[string]bool{}}
	build.Default.CgoEnabled = false // the library's sources that need C are replaced by those that do not
	j.std = importer.ForCompiler(j.fset, "source", nil)
	module := regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)
	var folders []string
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			if err == nil && entry.Name() == "go.mod" {
				if text, err := os.ReadFile(path); err == nil && module.Match(text) {
					j.modules[string(module.FindSubmatch(text)[1])] = filepath.Dir(path)
				}
			}
			return nil
		}
		if name := entry.Name(); path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor") {
			return filepath.SkipDir
		}
		folders = append(folders, path)
		return nil
	})
	for _, folder := range folders {
		path, longest := "", -1
		for module, home := range j.modules {
			if inner, err := filepath.Rel(home, folder); err == nil && !strings.HasPrefix(inner, "..") && len(home) > longest {
				path, longest = filepath.ToSlash(filepath.Join(module, inner)), len(home)
			}
		}
		if longest >= 0 {
			j.check(path, folder, true)
		}
	}
	uses, names := map[string][][4]any{}, 0
	for path, found := range j.uses {
		rows := [][4]any{}
		for _, row := range found {
			if keys, ok := row[3].([]string); ok && len(keys) > 0 && !j.defined[keys[0]] {
				row[3] = []string{}
			}
			rows = append(rows, row)
		}
		sort.Slice(rows, func(a, b int) bool { return rows[a][0].(int) < rows[b][0].(int) })
		uses[path] = rows
		names += len(rows)
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"symbols": j.symbols, "uses": uses, "imports": j.imports,
		"note": fmt.Sprintf("go/types, %d files", len(uses))})
}
