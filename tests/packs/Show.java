import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.file.Path;
import java.util.Base64;

/** Prints what the reader reads of a pack, a line each: messages with their bytes as base64, then tables with their rows. */
final class Show {
    public static void main(String[] files) throws Exception {
        CdcsimPack pack = new CdcsimPack(Path.of(files[0]));
        for (CdcsimPack.Message message : pack.messages) {
            StringBuilder line = new StringBuilder("message " + message.topic() + " " + message.partition() + " " + message.timestamp());
            line.append(" " + message.tag() + " " + base64(message.key()) + " " + base64(message.value()));
            message.headers().forEach((name, value) -> line.append(" " + name + "=" + base64(value)));
            System.out.println(line);
        }
        for (Object table : CdcsimPack.list(pack.manifest.get("tables"))) {
            String name = (String) CdcsimPack.object(table).get("table");
            pack.expected(name).forEach(row -> row.forEach((column, value) -> System.out.println(
                name + " " + column + " " + (value == null ? null : base64(((String) value).getBytes(UTF_8))))));
        }
    }

    private static String base64(byte[] bytes) {
        return bytes == null ? null : Base64.getEncoder().encodeToString(bytes);
    }
}
