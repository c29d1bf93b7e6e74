import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PackTest {
    @Test void ordersAreRight() throws Exception {
        CdcsimPack pack = new CdcsimPack(Path.of(System.getProperty("pack")));
        Consumer consumer = new Consumer("shop.order_items", Boolean.getBoolean("bug"));
        pack.messages.forEach(consumer::take);
        pack.assertRows("shop.order_items", consumer.rows.values());
    }
}
