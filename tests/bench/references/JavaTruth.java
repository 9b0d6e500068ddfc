// Exports how javac resolves the names of a Java project, as reference data for references.
//
// Usage: java --add-exports jdk.compiler/com.sun.tools.javac.{code,util}=ALL-UNNAMED (an option for each) JavaTruth.java FOLDER CLASSPATH
// LIST > truth.json; LIST has the paths of the sources, one per line. The output is described in scip_truth.py.
// Overloads are one symbol, and a constructor counts as its class.
import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.file.*;
import java.util.*;
import javax.lang.model.element.*;
import javax.lang.model.type.*;
import javax.tools.*;

public class JavaTruth {
  static Path root;
  static Map<String, List<Object[]>> symbols = new TreeMap<>();
  static Map<String, List<Object[]>> uses = new TreeMap<>();
  static Map<String, TreeSet<Long>> imports = new TreeMap<>();
  static Set<String> defined = new HashSet<>();
  static Trees trees;
  static String rel(JavaFileObject f) { return root.relativize(Paths.get(f.toUri()).toAbsolutePath()).toString(); }

  static String key(Element e) {
    if (e == null) return null;
    switch (e.getKind()) {
      case CONSTRUCTOR: return key(e.getEnclosingElement());
      case METHOD: {
        String owner = key(e.getEnclosingElement());
        return owner == null ? null : owner + "#" + e.getSimpleName();
      }
      case CLASS: case INTERFACE: case ENUM: case ANNOTATION_TYPE: case RECORD: {
        TypeElement t = (TypeElement) e;
        String q = t.getQualifiedName().toString();
        if (q.isEmpty() || t.getNestingKind() == NestingKind.LOCAL || t.getNestingKind() == NestingKind.ANONYMOUS) return ((com.sun.tools.javac.code.Symbol.ClassSymbol) t).flatName().toString();
        return q;
      }
      default: return null;
    }
  }

  public static void main(String[] args) throws Exception {
    root = Paths.get(args[0]).toRealPath();
    List<File> files = new ArrayList<>();
    for (String l : Files.readAllLines(Paths.get(args[2]))) files.add(root.resolve(l).toFile());
    JavaCompiler c = ToolProvider.getSystemJavaCompiler();
    StandardJavaFileManager fm = c.getStandardFileManager(null, null, null);
    int[] errors = {0};
    List<String> opts = new ArrayList<>(List.of("-proc:none", "-Xmaxerrs", "100000", "-implicit:none", "-XDshould-stop.ifError=FLOW", "-XDshould-stop.at=FLOW", "-nowarn"));
    if (!args[1].isEmpty()) { opts.add("-cp"); opts.add(args[1]); }
    JavacTask task = (JavacTask) c.getTask(null, fm, d -> { if (d.getKind() == Diagnostic.Kind.ERROR) { errors[0]++; if (errors[0] < 15) System.err.println(d.toString().lines().findFirst().get()); } }, opts, null, fm.getJavaFileObjectsFromFiles(files));
    trees = Trees.instance(task);
    List<CompilationUnitTree> units = new ArrayList<>();
    for (CompilationUnitTree u : task.parse()) units.add(u);
    task.analyze();
    for (CompilationUnitTree u : units) new Definitions(u).scan(u, null);
    for (CompilationUnitTree u : units) new Uses(u).scan(u, null);
    System.err.println(errors[0] + " errors");
    StringBuilder b = new StringBuilder("{\"symbols\":");
    table(b, symbols); b.append(",\"uses\":"); table(b, uses); b.append(",\"imports\":{");
    boolean first = true;
    for (var e : imports.entrySet()) { if (!first) b.append(','); first = false; str(b, e.getKey()); b.append(':').append(e.getValue()); }
    b.append("},\"note\":\"javac, " + units.size() + " files, " + errors[0] + " errors\"}");
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8");
    out.print(b); out.flush();
  }
  static void str(StringBuilder b, String s) { b.append('"').append(s.replace("\\", "\\\\").replace("\"", "\\\"")).append('"'); }
  static void table(StringBuilder b, Map<String, List<Object[]>> t) {
    b.append('{'); boolean f1 = true;
    for (var e : t.entrySet()) {
      if (!f1) b.append(','); f1 = false;
      str(b, e.getKey()); b.append(":["); boolean f2 = true;
      for (Object[] r : e.getValue()) {
        if (!f2) b.append(','); f2 = false; b.append('['); boolean f3 = true;
        for (Object o : r) { if (!f3) b.append(','); f3 = false; if (o instanceof String[] a) { b.append('['); for (int i = 0; i < a.length; i++) { if (i > 0) b.append(','); str(b, a[i]); } b.append(']'); } else if (o instanceof String s) str(b, s); else b.append(o); }
        b.append(']');
      }
      b.append(']');
    }
    b.append('}');
  }

  static class Base extends TreePathScanner<Void, Void> {
    CompilationUnitTree unit; SourcePositions pos = trees.getSourcePositions(); LineMap map; String path; CharSequence text;
    Base(CompilationUnitTree u) { unit = u; map = u.getLineMap(); path = rel(u.getSourceFile()); try { text = u.getSourceFile().getCharContent(true); } catch (IOException e) { throw new RuntimeException(e); } }
    long line(long p) { return map.getLineNumber(p); }
    /** The first position of a word at or after a position. */
    long find(long from, String word) {
      String s = text.toString();
      int at = (int) from;
      while ((at = s.indexOf(word, at)) >= 0) {
        boolean l = at == 0 || !Character.isJavaIdentifierPart(s.charAt(at - 1));
        boolean r = at + word.length() >= s.length() || !Character.isJavaIdentifierPart(s.charAt(at + word.length()));
        if (l && r) return at;
        at++;
      }
      return from;
    }
  }
  static class Definitions extends Base {
    Deque<String> names = new ArrayDeque<>();
    Definitions(CompilationUnitTree u) { super(u); symbols.put(path, new ArrayList<>()); uses.put(path, new ArrayList<>()); imports.put(path, new TreeSet<>());
      for (ImportTree i : u.getImports()) for (long n = line(pos.getStartPosition(u, i)); n <= line(pos.getEndPosition(u, i)); n++) imports.get(path).add(n); }
    String prefix() { StringBuilder b = new StringBuilder(); Iterator<String> i = names.descendingIterator(); while (i.hasNext()) b.append(i.next()).append('.'); return b.toString(); }
    void add(Tree t, String name, long after) {
      Element e = trees.getElement(getCurrentPath());
      String k = key(e);
      if (k == null || name.isEmpty()) return;
      long start = pos.getStartPosition(unit, t), end = pos.getEndPosition(unit, t);
      if (start < 0 || end < 0) return;
      defined.add(k);
      symbols.get(path).add(new Object[] {line(start), line(find(after, name)), line(end), prefix() + name, k});
    }
    @Override public Void visitClass(ClassTree t, Void v) {
      String n = t.getSimpleName().toString();
      long m = pos.getEndPosition(unit, t.getModifiers());
      add(t, n, m < 0 ? pos.getStartPosition(unit, t) : m);
      names.push(n.isEmpty() ? "<anonymous>" : n); super.visitClass(t, v); names.pop(); return null;
    }
    @Override public Void visitMethod(MethodTree t, Void v) {
      String n = t.getName().toString();
      long m = t.getReturnType() != null ? pos.getEndPosition(unit, t.getReturnType()) : pos.getEndPosition(unit, t.getModifiers());
      if (n.equals("<init>")) n = names.peek();
      long s = pos.getStartPosition(unit, t);
      Tree parent = getCurrentPath().getParentPath().getLeaf();
      if (s >= 0 && pos.getEndPosition(unit, t) >= 0 && pos.getEndPosition(unit, t) > s && text.toString().substring((int) s, (int) pos.getEndPosition(unit, t)).contains(n)) add(t, n, m < 0 ? s : m);
      names.push(n); super.visitMethod(t, v); names.pop(); return null;
    }
  }
  static class Uses extends Base {
    Uses(CompilationUnitTree u) { super(u); }
    void use(long at, String name, boolean called, Element e) {
      if (at < 0) return;
      String s = text.toString();
      if (at + name.length() > s.length() || !s.startsWith(name, (int) at)) return;
      Object keys;
      if (e == null || e.asType() != null && e.asType().getKind() == TypeKind.ERROR) keys = null;
      else { String k = key(e); keys = k != null && defined.contains(k) ? new String[] {k} : new String[0]; }
      uses.get(path).add(new Object[] {line(at), name, called, keys});
    }
    boolean called() {
      TreePath p = getCurrentPath(), q = p.getParentPath();
      return q.getLeaf() instanceof MethodInvocationTree m && m.getMethodSelect() == p.getLeaf();
    }
    Element known(TreePath p) {
      Element e = trees.getElement(p);
      if (e == null) return null;
      TypeMirror t = e.asType();
      if (t != null && t.getKind() == TypeKind.ERROR) return null;
      // javac gives a class symbol of an error kind for what it cannot resolve
      if (e instanceof com.sun.tools.javac.code.Symbol s && !s.exists()) return null;
      return e;
    }
    @Override public Void visitImport(ImportTree t, Void v) { return null; }
    @Override public Void visitIdentifier(IdentifierTree t, Void v) {
      String n = t.getName().toString();
      if (!n.equals("this") && !n.equals("super")) {
        TreePath q = getCurrentPath().getParentPath();
        boolean c = called() || isNew();
        Element e = known(getCurrentPath());
        use(pos.getStartPosition(unit, t), n, c, e);
      }
      return super.visitIdentifier(t, v);
    }
    boolean isNew() {
      TreePath p = getCurrentPath();
      while (true) {
        TreePath q = p.getParentPath();
        if (q.getLeaf() instanceof NewClassTree n) return n.getIdentifier() == p.getLeaf();
        if (q.getLeaf() instanceof ParameterizedTypeTree t && t.getType() == p.getLeaf() || q.getLeaf() instanceof AnnotatedTypeTree) p = q; else return false;
      }
    }
    @Override public Void visitMemberSelect(MemberSelectTree t, Void v) {
      String n = t.getIdentifier().toString();
      if (!n.equals("class") && !n.equals("this") && !n.equals("super")) {
        long at = find(pos.getEndPosition(unit, t.getExpression()), n);
        use(at, n, called() || isNew(), known(getCurrentPath()));
      }
      return super.visitMemberSelect(t, v);
    }
    @Override public Void visitMemberReference(MemberReferenceTree t, Void v) {
      String n = t.getName().toString();
      if (!n.equals("<init>")) use(find(pos.getEndPosition(unit, t.getQualifierExpression()), n), n, false, known(getCurrentPath()));
      return super.visitMemberReference(t, v);
    }
  }
}
