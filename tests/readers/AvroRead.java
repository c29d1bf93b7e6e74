import io.confluent.connect.avro.AvroConverter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.json.JsonConverter;

/**
 * Confluent's Avro converter as a consumer has it, with the schemas of the registry whose URL is the only argument.
 *
 * <p>A line `key|value TOPIC HEX` is answered with the message as Kafka Connect's JSON converter writes it, schema and
 * payload; `error …` stands for one that cannot be read.
 */
final class AvroRead {
    private final AvroConverter avro = new AvroConverter();
    private final JsonConverter json = new JsonConverter();

    private AvroRead(String url, boolean key) {
        avro.configure(Map.of("schema.registry.url", url), key);
        json.configure(Map.of(), key);
    }

    private String text(String topic, String hex) {
        try {
            SchemaAndValue read = avro.toConnectData(topic, HexFormat.of().parseHex(hex));
            return new String(json.fromConnectData(topic, read.schema(), read.value()), StandardCharsets.UTF_8);
        } catch (RuntimeException error) {
            return ("error " + error + " " + error.getCause()).replaceAll("\\s+", " ");
        }
    }

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        AvroRead keys = new AvroRead(args[0], true);
        AvroRead values = new AvroRead(args[0], false);
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            out.println((words[0].equals("key") ? keys : values).text(words[1], words[2]));
            out.println(".");
            if (!in.ready()) {
                out.flush();
            }
        }
        out.flush();
    }
}
