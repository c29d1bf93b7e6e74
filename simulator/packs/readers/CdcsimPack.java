import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.*;
import java.util.zip.ZipFile;

/** A pack of `cdcsim pack`: messages, and the rows that a consumer must hold after them. For Java 17; copy it. */
@SuppressWarnings("unchecked")
public final class CdcsimPack {
    private static final Object END = new Object();

    /** Key, value, partition, timestamp and tag may be null. */
    public record Message(
        String topic, Number partition, byte[] key, Map<String, byte[]> headers, Number timestamp, byte[] value, String tag) {
        public String text() {
            return value == null ? null : new String(value, StandardCharsets.UTF_8);
        }
    }

    public final Map<String, Object> manifest;
    /** In the order of the stream, which is that of each partition, too. */
    public final List<Message> messages = new ArrayList<>();
    private final Map<String, List<Map<String, Object>>> expected = new LinkedHashMap<>();
    private final Map<String, List<Object>> keys = new LinkedHashMap<>();

    /** Reads a file. Throws IOException for one that is no pack. */
    public CdcsimPack(Path file) throws IOException {
        try (ZipFile zip = new ZipFile(file.toFile())) {
            manifest = object(json(text(zip, "manifest.json")));
            if (!new BigDecimal(1).equals(manifest.get("pack"))) {
                throw new IOException(file + " is a pack of version " + manifest.get("pack") + "; this reads version 1");
            }
            for (Map<String, Object> line : lines(zip, manifest.get("messages"))) {
                Map<String, byte[]> headers = new LinkedHashMap<>();
                list(line.get("headers")).forEach(pair -> headers.put((String) list(pair).get(0), bytes(list(pair).get(1))));
                messages.add(new Message((String) line.get("topic"), (Number) line.get("partition"), bytes(line.get("key")), headers,
                    (Number) line.get("timestamp"), bytes(line.get("value")), (String) line.get("tag")));
            }
            for (Object each : list(manifest.get("tables"))) {
                Map<String, Object> table = object(each);
                expected.put((String) table.get("table"), lines(zip, table));
                List<Object> key = list(table.get("key"));
                keys.put((String) table.get("table"), key.isEmpty() ? List.copyOf(object(table.get("columns")).keySet()) : key);
            }
        }
    }

    /** The rows of a table (`shop.orders`) after all messages: by column its text, or null. */
    public List<Map<String, Object>> expected(String table) {
        if (!expected.containsKey(table)) {
            throw new IllegalArgumentException("no table " + table + " in the pack: it has " + expected.keySet());
        }
        return expected.get(table);
    }

    /** Throws AssertionError unless these are the expected rows, in any order; values may be the text or the same number. */
    public void assertRows(String table, Collection<? extends Map<String, ?>> rows) {
        List<String> problems = new ArrayList<>();
        Map<String, Deque<Map<String, Object>>> wanted = new LinkedHashMap<>();
        expected(table).forEach(row -> wanted.computeIfAbsent(key(table, row), key -> new ArrayDeque<>()).add(row));
        for (Map<String, ?> row : rows) {
            String key = key(table, row);
            Map<String, Object> right = wanted.getOrDefault(key, new ArrayDeque<>()).poll();
            if (right == null) {
                problems.add(key + " is not expected, or there twice");
            } else {
                right.keySet().stream().filter(column -> !same(right.get(column), row.get(column))).forEach(
                    column -> problems.add(key + " " + column + ": expected " + right.get(column) + ", not " + row.get(column)));
            }
        }
        wanted.forEach((key, left) -> left.forEach(row -> problems.add(key + " is missing")));
        if (!problems.isEmpty()) {
            throw new AssertionError(table + ", " + problems.size() + " differences: " + problems.subList(0, Math.min(5, problems.size())));
        }
    }

    private String key(String table, Map<String, ?> row) {
        return String.join(", ", keys.get(table).stream().map(column -> column + "=" + row.get(column)).toList());
    }

    private static boolean same(Object text, Object value) {
        try {
            return text == null || value == null ? text == value
                : text.equals(value.toString()) || new BigDecimal((String) text).compareTo(new BigDecimal(value.toString())) == 0;
        } catch (NumberFormatException error) {
            return false;
        }
    }

    private static List<Map<String, Object>> lines(ZipFile zip, Object entry) throws IOException {
        String text = text(zip, (String) object(entry).get("file"));
        return text.isEmpty() ? List.of() : Arrays.stream(text.split("\n")).map(line -> object(json(line))).toList();
    }

    private static String text(ZipFile zip, String name) throws IOException {
        if (zip.getEntry(name) == null) {
            throw new IOException(zip.getName() + " is no pack: it has no " + name);
        }
        return new String(zip.getInputStream(zip.getEntry(name)).readAllBytes(), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(Object value) {
        return value instanceof Map<?, ?> binary ? Base64.getDecoder().decode((String) binary.get("base64"))
            : value == null ? null : ((String) value).getBytes(StandardCharsets.UTF_8);
    }

    public static Map<String, Object> object(Object json) {
        return (Map<String, Object>) json;
    }

    public static List<Object> list(Object json) {
        return (List<Object>) json;
    }

    /** A JSON document, taken to be right: Map, List, String, BigDecimal, Boolean, null. */
    public static Object json(String text) {
        return value(text, new int[1]);
    }

    private static Object value(String text, int[] next) {
        while (" \t\r\n,:".indexOf(text.charAt(next[0])) >= 0) next[0]++;
        int start = next[0]++;
        switch (text.charAt(start)) {
            case '"': return string(text, next);
            case '}', ']': return END;
            case '{', '[':
                List<Object> items = new ArrayList<>();
                for (Object item; (item = value(text, next)) != END; ) items.add(item);
                if (text.charAt(start) == '[') return items;
                Map<String, Object> members = new LinkedHashMap<>();
                for (int i = 0; i < items.size(); i += 2) members.put((String) items.get(i), items.get(i + 1));
                return members;
        }
        while (next[0] < text.length() && " \t\r\n,]}".indexOf(text.charAt(next[0])) < 0) next[0]++;
        String word = text.substring(start, next[0]);
        return word.equals("null") ? null : word.endsWith("e") ? (Object) word.equals("true") : new BigDecimal(word);
    }

    private static String string(String text, int[] next) {
        StringBuilder out = new StringBuilder();
        for (char c; (c = text.charAt(next[0]++)) != '"'; out.append(c)) {
            if (c != '\\') continue;
            int escape = "bfnrtu".indexOf(c = text.charAt(next[0]++));
            if (escape == 5) c = (char) Integer.parseInt(text.substring(next[0], next[0] += 4), 16);
            else if (escape >= 0) c = "\b\f\n\r\t".charAt(escape);
        }
        return out.toString();
    }
}
