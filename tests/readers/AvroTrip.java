import io.confluent.connect.avro.AvroConverter;
import io.confluent.kafka.schemaregistry.client.MockSchemaRegistryClient;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.json.JsonConverter;
import com.fasterxml.jackson.databind.*;
import com.fasterxml.jackson.databind.node.*;

/** stdin: {"topic","key","value"} whose key and value have their schemas; stdout: the same as the converter writes them, then the schemas. */
public class AvroTrip {
    public static void main(String[] args) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        MockSchemaRegistryClient client = new MockSchemaRegistryClient();
        Map<String, Object> config = new HashMap<>();
        config.put("schema.registry.url", "mock://x");
        for (String a : args) { String[] p = a.split("=", 2); config.put(p[0], p[1]); }
        AvroConverter key = new AvroConverter(client), value = new AvroConverter(client);
        key.configure(config, true); value.configure(config, false);
        JsonConverter jk = new JsonConverter(), jv = new JsonConverter();
        jk.configure(Map.of("schemas.enable", "true", "schemas.cache.size", "10000"), true);
        jv.configure(Map.of("schemas.enable", "true", "schemas.cache.size", "10000"), false);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8");
        for (String line; (line = in.readLine()) != null; ) {
            JsonNode m = mapper.readTree(line);
            String topic = m.get("topic").asText();
            ObjectNode o = mapper.createObjectNode();
            try {
                o.put("key", hex(trip(jk, key, topic, m.get("key"))));
                o.put("value", hex(trip(jv, value, topic, m.get("value"))));
            } catch (Exception e) { o.put("error", e.toString() + (e.getCause() == null ? "" : " / " + e.getCause())); if (System.getenv("TRACE") != null) e.printStackTrace(); }
            out.println(mapper.writeValueAsString(o));
        }
        out.println("---");
        for (String subject : new TreeSet<>(client.getAllSubjects()))
            for (int version : client.getAllVersions(subject)) {
                var meta = client.getSchemaMetadata(subject, version);
                ObjectNode n = mapper.createObjectNode();
                n.put("subject", subject); n.put("version", version); n.put("id", meta.getId()); n.put("schema", meta.getSchema());
                out.println(mapper.writeValueAsString(n));
            }
        out.flush();
    }
    static byte[] trip(JsonConverter json, AvroConverter avro, String topic, JsonNode text) {
        if (text == null || text.isNull()) return null;
        SchemaAndValue v = json.toConnectData(topic, text.asText().getBytes(StandardCharsets.UTF_8));
        return avro.fromConnectData(topic, v.schema(), v.value());
    }
    static String hex(byte[] b) { return b == null ? null : HexFormat.of().formatHex(b); }
}
