import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.bson.BsonDocument;
import org.bson.json.JsonMode;
import org.bson.json.JsonWriterSettings;

/**
 * Reads each line as a document with MongoDB's own reader, and answers with two lines: the document as canonical
 * extended JSON, and as the shell writes it; of a line that begins with `relaxed ` with its relaxed extended JSON. A line
 * that cannot be read comes back as `ERROR` and the reason.
 */
public class BsonTrip {
    public static void main(String[] args) throws IOException {
        JsonWriterSettings extended = JsonWriterSettings.builder().outputMode(JsonMode.EXTENDED).build();
        JsonWriterSettings shell = JsonWriterSettings.builder().outputMode(JsonMode.SHELL).build();
        JsonWriterSettings relaxed = JsonWriterSettings.builder().outputMode(JsonMode.RELAXED).build();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        OutputStream out = new BufferedOutputStream(System.out, 1 << 16);
        for (String line; (line = in.readLine()) != null; ) {
            String answer;
            try {
                if (line.startsWith("relaxed ")) {
                    answer = BsonDocument.parse(line.substring(8)).toJson(relaxed);
                } else {
                    BsonDocument document = BsonDocument.parse(line);
                    answer = document.toJson(extended) + "\n" + document.toJson(shell);
                }
            } catch (RuntimeException e) {
                answer = ("ERROR " + e).replace('\n', ' ');
            }
            out.write(answer.getBytes(StandardCharsets.UTF_8));
            out.write("\n.\n".getBytes(StandardCharsets.US_ASCII));
            if (!in.ready()) {
                out.flush();
            }
        }
        out.flush();
    }
}
