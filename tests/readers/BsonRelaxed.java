import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.bson.BsonDocument;
import org.bson.json.JsonMode;
import org.bson.json.JsonWriterSettings;

/** Parses each line as a BSON document, as MongoDB's driver does, and writes it in relaxed extended JSON. */
public class BsonRelaxed {
    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        JsonWriterSettings relaxed = JsonWriterSettings.builder().outputMode(JsonMode.RELAXED).build();
        for (String line; (line = in.readLine()) != null; ) {
            try {
                out.println(BsonDocument.parse(line).toJson(relaxed));
            } catch (RuntimeException e) {
                out.println("ERROR " + e.toString().lines().findFirst().orElse(""));
            }
            out.println(".");
            if (!in.ready()) {
                out.flush();
            }
        }
        out.flush();
    }
}
