import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.utils.Utils;

/** For each line, a number of partitions and a key in hex: the key's murmur2, and the partition that it goes to. */
public class KafkaHash {
    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        PrintStream out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16), false, "US-ASCII");
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ", -1);
            byte[] key = HexFormat.of().parseHex(words[1]);
            int partition = BuiltInPartitioner.partitionForKey(key, Integer.parseInt(words[0]));
            out.print(Utils.murmur2(key) + " " + partition + "\n.\n");
            if (!in.ready()) {
                out.flush();
            }
        }
        out.flush();
    }
}
