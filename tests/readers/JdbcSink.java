import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.debezium.connector.jdbc.JdbcSinkConnectorTask;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTaskContext;

/**
 * Debezium's JDBC sink, driven as a worker of Kafka Connect drives it, with Connect's JSON converter.
 *
 * A line {"connector": {…}} begins a task with these properties; a line with a `topic` is a message, as `--envelope` writes it; the line `put` hands
 * what came since to the task, which writes it to the database. Answers to other lines are empty; a failure is {"error":"…"}.
 */
public class JdbcSink {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        Task task = null;
        for (String line; (line = in.readLine()) != null; ) {
            try {
                if (line.equals("put")) {
                    task.put();
                } else {
                    JsonNode told = JSON.readTree(line);
                    if (told.has("connector")) {
                        if (task != null) {
                            task.sink.stop();
                        }
                        task = new Task(told.get("connector"));
                    } else {
                        task.take(told);
                    }
                }
            } catch (Throwable error) {
                StringBuilder causes = new StringBuilder();
                for (Throwable cause = error; cause != null; cause = cause.getCause()) {
                    causes.append(causes.length() > 0 ? " | " : "").append(cause);
                }
                out.println(JSON.createObjectNode().put("error", causes.toString()));
            }
            out.println(".");
            if (!in.ready()) {
                out.flush();
            }
        }
    }

    static final class Task {
        final JdbcSinkConnectorTask sink = new JdbcSinkConnectorTask();
        final JsonConverter keys = new JsonConverter();
        final JsonConverter values = new JsonConverter();
        final Map<TopicPartition, Long> offsets = new HashMap<>();
        List<SinkRecord> records = new ArrayList<>();

        Task(JsonNode told) {
            Map<String, String> properties = new HashMap<>();
            told.fields().forEachRemaining(field -> properties.put(field.getKey(), field.getValue().asText()));
            keys.configure(Map.of("schemas.enable", true), true);
            values.configure(Map.of("schemas.enable", true), false);
            SinkTaskContext context = (SinkTaskContext) Proxy.newProxyInstance(JdbcSink.class.getClassLoader(), new Class<?>[] {SinkTaskContext.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "assignment" -> offsets.keySet();
                    case "configs" -> properties;
                    default -> null;
                });
            sink.initialize(context);
            sink.start(properties);
        }

        void take(JsonNode message) {
            TopicPartition place = new TopicPartition(message.get("topic").asText(), message.get("partition").asInt());
            long offset = offsets.merge(place, 1L, Long::sum) - 1;
            SchemaAndValue key = keys.toConnectData(place.topic(), bytes(message.get("key")));
            SchemaAndValue value = values.toConnectData(place.topic(), bytes(message.get("value")));
            records.add(new SinkRecord(place.topic(), place.partition(), key.schema(), key.value(), value.schema(), value.value(), offset, 0L, TimestampType.CREATE_TIME));
        }

        void put() {
            List<SinkRecord> due = records;
            records = new ArrayList<>();
            sink.put(due);
            sink.put(List.of()); // a failure is thrown by the call after it
            Map<TopicPartition, OffsetAndMetadata> ends = new HashMap<>();
            offsets.forEach((place, offset) -> ends.put(place, new OffsetAndMetadata(offset)));
            sink.preCommit(ends);
        }

        static byte[] bytes(JsonNode text) {
            return text.isNull() ? null : text.asText().getBytes(StandardCharsets.UTF_8);
        }
    }
}
